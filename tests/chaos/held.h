/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock held by a worker's thread: the hold, the operation in the history, and
 * the guarded register.
 */
#ifndef DLOCK_CHAOS_HELD_H
#define DLOCK_CHAOS_HELD_H

#include "chaos/use.h"

struct chaos_held {
	struct chaos_thread *me;
	const char *name;
	struct lab_resource *guarded; /* NULL: no writes */
	uint64_t op;
	dlock_hold *hold;
	uint64_t token;
	int lost;
};

/* Start from the name with index `i` in chaos_names.  With `alone` the holder
 * writes to the register. */
struct chaos_held chaos_held(struct chaos_thread *me, int i, int alone);

/* Count a use of a feature. */
void chaos_did(struct chaos_thread *me, enum chaos_feature feature);

/* Note an answer without a fault to explain it. */
void chaos_odd(const struct chaos_held *h, const char *call, int rc);

/* Return whether an acquire may answer so at any time: OK, busy, out of
 * reach. */
int chaos_usual(int rc);

/* Note the answer to the acquire `h->op`; `hold` is NULL after a failure. */
void chaos_answered(struct chaos_held *h, int rc, dlock_hold *hold);

void chaos_write(struct chaos_held *h);
void chaos_check(struct chaos_held *h);

/* Check and write with each of `n` holds, for `ms`, or until a hold is lost. */
void chaos_work(struct chaos_held *h, int n, int64_t ms);

/* Release `hold`, which is the hold of `h`, or a multi-lock of all `n`. */
int chaos_give(struct chaos_held *h, int n, dlock_hold *hold);

#endif
