/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for users of redlock and redsync. */
#include "coming/rows.h"

#include "support/wait.h"

static dlock_hold *take_for(struct coming *t, int64_t lease_ms)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *hold;

	o.lease_ms = lease_ms;
	o.no_renew = 1;
	OK(dlock_acquire_opts(t->lock, &o, &hold));
	return hold;
}

ROW(redsync_lock)
{
	dlock_hold *hold = take_for(t, 8000);

	cr_assert_leq(dlock_remaining_ms(hold), 8000);
	OK(dlock_release(hold));
}

ROW(redsync_tries)
{
	dlock_hold *hold, *theirs = coming_take(t->theirs);

	IS(dlock_acquire(t->lock, 0, &hold), DLOCK_EBUSY);
	IS(dlock_acquire(t->lock, 50, &hold), DLOCK_EBUSY);
	OK(dlock_release(theirs));
}

ROW(redsync_extend)
{
	dlock_hold *hold = take_for(t, 8000);

	OK(dlock_extend(hold, 60000));
	OK(dlock_check(hold));
	OK(dlock_release(hold));
}

ROW(redsync_valid)
{
	dlock_hold *hold = take_for(t, 100);

	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	cr_assert_eq(dlock_remaining_ms(hold), 0);
	IS(dlock_release(hold), DLOCK_ELOST);
}

ROW(redsync_resources)
{
	coming_both(t, t->client);
}

const struct coming_row redsync_rows[] = {
	{ "redsync_lock", redsync_lock },
	{ "redsync_tries", redsync_tries },
	{ "redsync_extend", redsync_extend },
	{ "redsync_valid", redsync_valid },
	{ "redsync_resources", redsync_resources },
	{ NULL, NULL },
};
