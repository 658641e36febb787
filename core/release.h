/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up a hold of one lock: the last release of a claim, or the downgrade
 * that leaves its read side.
 */
#ifndef DLOCK_CORE_RELEASE_H
#define DLOCK_CORE_RELEASE_H

#include "core/claim.h"

/* With mu held: may this thread release it?  0 or EINVAL. */
int dlki_may_release(const dlock_hold *hold, struct dlk_error *err);

/* Undo one acquire; returns what dlock_release() does.  The store is asked for
 * no longer than until `deadline`, nor than the URI's `close` time. */
int dlki_release(dlock_hold *hold, dlk_time deadline, struct dlk_error *err);

/* The two halves of it, with mu held.  After the first one the hold has ended
 * for the program: it gets no more events.  Is it the last of its claim's? */
int dlki_release_begin(dlock_hold *hold);

/* The rest, which asks the store, and releases mu meanwhile. */
int dlki_release_end(dlock_hold *hold, int last, dlk_time deadline,
		     struct dlk_error *err);

/*
 * The rest in two steps.  If the first leaves a claim in `g`, the caller has
 * seized the claim, which is RELEASING, and the second step asks the store.
 */
struct dlki_giving {
	struct dlki_claim *claim; /* or NULL: the release has ended */
	dlk_time end;             /* of the promise */
	dlk_time deadline;
};

int dlki_release_go(dlock_hold *hold, int last, dlk_time deadline,
		    struct dlki_giving *g, struct dlk_error *err);
int dlki_release_ask(const struct dlki_giving *g, struct dlk_error *err);

/* In the place of the second half, if it is the last: the renewer asks the
 * store.  Does not wait. */
void dlki_release_leave(dlock_hold *hold);

/* With mu held: the answer to a release that was sent, release=async. */
void dlki_release_answered(struct dlki_claim *claim, int rc);

#endif
