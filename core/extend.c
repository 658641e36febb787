/* SPDX-License-Identifier: Apache-2.0 */
/* Moving the end of holds with an end. */
#include <inttypes.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/claim.h"
#include "core/guard.h"
#include "core/lifecycle.h"
#include "core/multi_hold.h"
#include "core/record.h"
#include "core/schedule.h"

/* With mu held: 0, EINVAL, or ELOST. */
static int check_claim(struct dlki_claim *claim, struct dlk_error *err)
{
	const struct dlki_record *r = claim->record;

	dlki_claim_expire(claim);
	if (claim->state != DLKI_HELD)
		return dlki_claim_fail_lost(claim, err);
	if (!dlki_schedule_end(claim))
		return dlk_fail(err, DLOCK_EINVAL,
				"%s '%s': this hold has no end to move: it has "
				"no max_hold, and is renewed",
				dlki_kind_name(r->kind), r->name);
	return 0;
}

/* With mu held.  The end moves only from the known end, as in a renewal: a
 * check that saw the end reached stays right. */
static int move_end(struct dlki_claim *claim, dlk_time until,
		    struct dlk_error *err)
{
	dlk_time old = atomic_load(&claim->valid_until);
	dlk_time end = claim->lease_until < until ? claim->lease_until : until;

	if (old == DLKI_EXPIRED ||
	    !atomic_compare_exchange_strong(&claim->valid_until, &old, end))
		return check_claim(claim, err);
	claim->hold_until = until;
	dlki_schedule_moved(claim, end);
	dlki_schedule_extended(claim);
	return 0;
}

static int extend_claim(struct dlki_claim *claim, dlk_time until,
			int only_check, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc = dlki_client_ours(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	rc = check_claim(claim, err);
	if (rc == 0 && !only_check)
		rc = move_end(claim, until, err);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/* All members or no member, but for a member lost meanwhile. */
static int extend_members(const struct dlki_multi_hold *m, dlk_time until,
			  struct dlk_error *err)
{
	int rc = 0;

	for (int only_check = 1; only_check >= 0; only_check--)
		for (size_t i = 0; i < m->n && rc == 0; i++)
			rc = extend_claim(dlki_hold_claim(m->member[i].hold),
					  until, only_check, err);
	return rc;
}

static int extend(dlock_hold *hold, int64_t ms, struct dlk_error *err)
{
	dlk_time until;

	if (!hold)
		return dlk_fail(err, DLOCK_EINVAL, "hold is NULL");
	if (ms <= 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"ms is %" PRId64 ": a hold can only be made to "
				"end later than now; dlock_release() ends it",
				ms);
	until = dlki_after_ms(dlk_now(), ms);
	if (dlki_hold_multi(hold))
		return extend_members(dlki_hold_multi(hold), until, err);
	return extend_claim(dlki_hold_claim(hold), until, 0, err);
}

int dlock_extend(dlock_hold *hold, int64_t ms)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, extend(hold, ms, &s.err));
}
