/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor that polls readable while something is due.  Between two calls
 * of dlki_due_take() one telling makes it readable, and is an edge.  Needs no
 * lock.
 */
#ifndef DLOCK_CORE_BASE_DUE_H
#define DLOCK_CORE_BASE_DUE_H

#include <stdatomic.h>

struct dlki_due {
	_Atomic int fd;     /* an eventfd, or -1: nobody has asked for it */
	_Atomic int told;   /* since it was taken */
	_Atomic int nudged; /* likewise */
};

void dlki_due_init(struct dlki_due *due);
void dlki_due_destroy(struct dlki_due *due);

/* The descriptor, or -1 with errno. */
int dlki_due_fd(struct dlki_due *due);

/* Something is due.  Async-signal-safe; keeps errno. */
void dlki_due_tell(struct dlki_due *due);

/* The same, for no reason but the caller's. */
void dlki_due_nudge(struct dlki_due *due);

/* Make it unreadable, then look what is due.  Was it nudged? */
int dlki_due_take(struct dlki_due *due);

#endif
