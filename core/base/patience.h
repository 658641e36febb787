/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patience of a caller that waits for a lock.  Its calls of the backend
 * have deadlines of their own.  Once the wait is cancelled, the caller no
 * longer wants the answer: the deadlines move forward, to `ask` after the
 * cancel.
 *
 * Patience is a thread-local variable, so any wait inside the backend can check
 * it.  A cancel cannot signal that wait, so the wait checks again every slice.
 */
#ifndef DLOCK_CORE_BASE_PATIENCE_H
#define DLOCK_CORE_BASE_PATIENCE_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <stddef.h>

struct dlki_patience {
	const _Atomic uint64_t *cancels; /* it ends when this moves */
	uint64_t seen;
	_Atomic uint64_t *answered;      /* or NULL: a cancel waits for the wait
					  * that it ends, and this is how many
					  * have ended one */
	const _Atomic uint64_t *own;     /* or when this is not 0, if given */
	int64_t ask_ms;
	dlk_time ended; /* when that was noticed; 0: it is not over */
	struct dlki_patience *outer;
	struct dlki_patience **slot; /* the thread's variable */
};

/* This thread's calls are made with patience `p`, until the end; then with the
 * one that was in force before. */
void dlki_patience_begin(struct dlki_patience *p);
void dlki_patience_end(struct dlki_patience *p);

/* Is it over? */
int dlki_patience_over(struct dlki_patience *p);

/* It is, and the wait ends for that. */
void dlki_patience_answer(const struct dlki_patience *p);

#endif
