/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process and which thread is this?  Serial numbers, never addresses or
 * ids that the system uses again.
 */
#ifndef DLOCK_CORE_PROCESS_H
#define DLOCK_CORE_PROCESS_H

#include <dlock/backend.h>

/* Another number in every forked child; costs a load, no system call. */
uint64_t dlki_process(void);

/* Another number in every thread that this process ever has. */
uint64_t dlki_thread_serial(void);

/* Keeps errno and disables cancellation for the length of a public call. */
struct dlki_border {
	int errnum;
	int cancel_state;
};

struct dlki_border dlki_enter(void);
void dlki_leave(struct dlki_border b);

#endif
