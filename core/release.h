/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up a hold of a single lock: the last release of a claim, or the
 * downgrade to the read side.
 */
#ifndef DLOCK_CORE_RELEASE_H
#define DLOCK_CORE_RELEASE_H

#include "core/claim.h"

/* With mu held: may this thread release the hold?  0 or EINVAL. */
int dlki_may_release(const dlock_hold *hold, struct dlk_error *err);

/* Undo an acquire; returns as dlock_release().  The call waits for the store
 * until `deadline` at most, and at most the URI's `close` time. */
int dlki_release(dlock_hold *hold, dlk_time deadline, struct dlk_error *err);

/* The two halves of a release, with mu held.  The first half: 0, and the hold
 * has ended for the program, gets no more events, and was the claim's last if
 * `*last`; or EINVAL, as dlki_may_release(). */
int dlki_release_begin(dlock_hold *hold, bool *last, struct dlk_error *err);

/* The rest, which waits and asks the store, and releases mu meanwhile. */
int dlki_release_end(dlock_hold *hold, int last, dlk_time deadline,
		     struct dlk_error *err);

/*
 * The rest in two steps.  If the first leaves a claim in `g`, the caller has
 * seized the claim, which is RELEASING, and the second step asks the store, for
 * a call or NULL.  DLKI_ASKS: the store answers the call later, and the step is
 * to be repeated.
 */
struct dlki_giving {
	struct dlki_claim *claim; /* or NULL: the release has ended */
	dlk_time end;             /* of the promise */
	dlk_time deadline;
};

int dlki_release_go(dlock_hold *hold, int last, dlk_time deadline,
		    struct dlki_giving *g, struct dlk_error *err);
int dlki_release_ask(const struct dlki_giving *g, struct dlki_async *call,
		     struct dlk_error *err);

/* In the place of the second half, if it is the last: the renewer asks the
 * store.  Does not wait.  0, or ELOST. */
int dlki_release_leave(dlock_hold *hold, struct dlk_error *err);

/* With mu held: the answer to a sent release, release=async. */
void dlki_release_answered(struct dlki_claim *claim, int rc);

#endif
