/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor that polls readable while work is due.  Between two calls of
 * dlki_due_take() the first telling makes the descriptor readable, and is an
 * edge.  Needs no lock.
 */
#ifndef DLOCK_CORE_BASE_DUE_H
#define DLOCK_CORE_BASE_DUE_H

#include <stdatomic.h>

struct dlki_due {
	_Atomic int fd;     /* an eventfd, or -1: no caller has asked for it */
	_Atomic int told;   /* since the last take */
	_Atomic int nudged; /* likewise */
};

void dlki_due_init(struct dlki_due *due);
void dlki_due_destroy(struct dlki_due *due);

/* Return the descriptor, or -1 with errno. */
int dlki_due_fd(struct dlki_due *due);

/* Tell that work is due.  Async-signal-safe; keeps errno. */
void dlki_due_tell(struct dlki_due *due);

/*
 * Tell before this thread waits, so that the thread awaiting the descriptor
 * meets several pieces of work.  dlki_due_flush() tells, and is called before
 * every sleep on a condition; dlki_due_await() before every wait for a server,
 * and a thread that has not called it tells at once.  A thread tells a single
 * `due` so.
 */
void dlki_due_tell_soon(struct dlki_due *due);
void dlki_due_flush(void);
void dlki_due_await(void);

/* Tell, with an edge in any case. */
void dlki_due_tell_again(struct dlki_due *due);

/* Make the descriptor readable for no other reason. */
void dlki_due_nudge(struct dlki_due *due);

/* Make the descriptor unreadable; the caller then looks for due work.  Was the
 * descriptor nudged? */
int dlki_due_take(struct dlki_due *due);

#endif
