/* SPDX-License-Identifier: Apache-2.0 */
/* Renewals tell a holder that other clients want the lock. */
#include "support.h"

#include <string.h>

TestSuite(memcached_wish, .timeout = 120);

/* Renewals come every half a second. */
#define SHORT "ttl=1500ms"

static int is_there(const struct scene *s)
{
	return strncmp(scene_do(s, "get %s", "lnx.w"), "VALUE ", 6) == 0;
}

/* Two more renewals look for the wish. */
static void two_renewals(dlock_client *c)
{
	uint64_t before = stats(c).renewed;

	EVENTUALLY(stats(c).renewed >= before + 2);
}

/* Once for each time that the holder asks to know. */
EITHER_WAY(memcached_wish, is_heard_once)
{
	dlock_client *c = direct(&s, SHORT);
	dlock_lock *other = mutex(direct(&s, ""), "x");
	dlock_hold *h = take(mutex(c, "x"));

	CHECK_OK(dlock_revocable(h));
	two_renewals(c);
	CHECK(!is_readable(dlock_wanted_fd(h), 0));
	for (int i = 0; i < 2; i++) {
		CHECK_OK(dlock_revocable(h));
		EVENTUALLY(!is_there(&s));
		CHECK_OK(dlock_revoke(other, 5000));
		CHECK_OK(dlock_revoke(other, 5000));
		EVENTUALLY(is_readable(dlock_wanted_fd(h), 0));
		EVENTUALLY(!is_there(&s));
	}
	CHECK_OK(dlock_check(h));
	ask(other, 0, DLOCK_EBUSY);
	give(h);
}

/* The wish comes before the holder asks. */
EITHER_WAY(memcached_wish, may_come_first)
{
	dlock_lock *other = mutex(direct(&s, ""), "x");
	dlock_hold *h = take(mutex(direct(&s, "ttl=60s"), "x"));

	CHECK_OK(dlock_revoke(other, 5000));
	CHECK(is_there(&s));
	CHECK_OK(dlock_revocable(h));
	CHECK(is_readable(dlock_wanted_fd(h), 0));
	CHECK(!is_there(&s));
	give(h);
}

EITHER_WAY(memcached_wish, is_not_the_next_holder_s)
{
	dlock_client *c = direct(&s, SHORT);
	dlock_lock *first = mutex(direct(&s, "ttl=60s"), "x");
	dlock_lock *next = mutex(c, "x");
	dlock_hold *h = take(first);

	CHECK_OK(dlock_revocable(h));
	CHECK_OK(dlock_revoke(next, 5000));
	give(h);
	h = take(next);
	CHECK_OK(dlock_revocable(h));
	two_renewals(c);
	CHECK(!is_readable(dlock_wanted_fd(h), 0));
	/* The old wish is in the way of no other. */
	CHECK_OK(dlock_revoke(first, 5000));
	EVENTUALLY(is_readable(dlock_wanted_fd(h), 0));
	give(h);
}

EITHER_WAY(memcached_wish, is_left_by_a_waiter)
{
	dlock_client *c = direct(&s, SHORT);
	dlock_hold *h = take(mutex(c, "x"));
	struct taker w = { 0 };

	CHECK_OK(dlock_revocable(h));
	ask(mutex(direct(&s, ""), "x"), 0, DLOCK_EBUSY);
	CHECK(!is_there(&s));
	taker_start(&w, mutex(direct(&s, ""), "x"), -1);
	EVENTUALLY(is_readable(dlock_wanted_fd(h), 0));
	give(h);
	CHECK_OK(taker_join(&w));
}

EITHER_WAY(memcached_wish, is_for_the_owner_at_the_gate)
{
	dlock_client *c = direct(&s, "ttl=60s");
	dlock_lock *l = rwlock(c, "x");
	dlock_hold *h;

	CHECK_OK(dlock_revoke(mutex(c, "x"), 5000));
	CHECK(!is_there(&s));
	h = take_shared(l, 5000);
	CHECK_RC(dlock_revocable(h), DLOCK_ENOTSUP);
	CHECK_OK(dlock_revoke(l, 5000));
	CHECK(!is_there(&s));
	give(h);
	l = semaphore(c, "x", 2);
	h = take(l);
	CHECK_RC(dlock_revocable(h), DLOCK_ENOTSUP);
	CHECK_RC(dlock_revoke(l, 5000), DLOCK_ENOTSUP);
	give(h);
}
