/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process and which thread is this?  Serial numbers, never addresses or
 * ids that the system uses again.
 */
#ifndef DLOCK_CORE_BASE_PROCESS_H
#define DLOCK_CORE_BASE_PROCESS_H

#include <dlock/backend.h>

/* Return the process's number, another in every forked child; costs a load, no
 * system call. */
uint64_t dlki_process(void);

#define DLKI_NO_THREAD 0

/* Return the thread's number, from 1, another in every thread this process ever
 * has. */
uint64_t dlki_thread_serial(void);

/* Keep errno and disable cancellation for the length of a public call. */
struct dlki_scope {
	int errnum;
	int cancel_state;
	struct dlk_error err; /* the call's, without an error at first */
};

struct dlki_scope dlki_enter(void);
void dlki_leave(struct dlki_scope *scope);

#endif
