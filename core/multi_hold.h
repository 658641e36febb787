/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Having all members of a multi-lock, or no member.
 */
#ifndef DLOCK_CORE_MULTI_HOLD_H
#define DLOCK_CORE_MULTI_HOLD_H

#include "core/acquire.h"

struct dlki_multi;

struct dlki_multi_hold {
	dlock_hold hold; /* the user's handle */
	_Atomic int fd;  /* epoll over the members', or -1 */
	dlk_time tried_at; /* the first was granted, the tries began */
	int upgradeable; /* as the multi-lock */
	size_t n;
	struct dlki_member_hold {
		dlock_hold *hold;
		size_t place;
	} member[]; /* in the order of acquiring */
};

/* With room for all members, still empty; NULL: no memory. */
struct dlki_multi_hold *dlki_multi_hold_new(const struct dlki_multi *multi);
void dlki_multi_hold_free(struct dlki_multi_hold *m); /* the members stay */

/* May this thread release all members?  0 or EINVAL, or EFORKED.  After 0 a
 * release in reverse begins with the member that may be refused even so. */
int dlki_multi_may_release(struct dlki_multi_hold *m, struct dlk_error *err);
int dlki_multi_release(dlock_hold *hold, struct dlk_error *err);

/* Release the members acquired so far; no member is left in `m`, but after
 * EINVAL those not released.  The worst failure is the result.  `wait`: of the
 * failed acquire, or NULL. */
int dlki_multi_release_members(struct dlki_multi_hold *m,
			       struct dlki_wait *wait, struct dlk_error *err);

/* OK, or ELOST or EFORKED of the first member with an error. */
int dlki_multi_check(const dlock_hold *hold);
int dlki_multi_fd(dlock_hold *hold, struct dlk_error *err);

/* Return the least result of `ask` for a member, where -1 is more than any. */
int64_t dlki_multi_least_ms(const dlock_hold *hold,
			    int64_t (*ask)(struct dlki_claim *member));

/* Return the hold of the user's `i`th member, or NULL. */
dlock_hold *dlki_multi_member(const dlock_hold *hold, size_t i);

#endif
