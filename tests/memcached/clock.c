/* SPDX-License-Identifier: Apache-2.0 */
/* The server's clock and ours, when one of them leaps for good. */
#include "support.h"

#include <stdatomic.h>

#include "core/clock.h"

static dlk_time (*real_clock)(void);
static _Atomic dlk_time behind;

static dlk_time leaping_clock(void)
{
	return real_clock() - atomic_load(&behind);
}

/* Until it leaps the clock is behind, so that timers are never late by it. */
static void before_a_leap_of_ms(int64_t ms)
{
	real_clock = dlki_clock;
	dlki_clock = leaping_clock;
	atomic_store(&behind, ms * DLKI_MS);
}

static void leap(void)
{
	atomic_store(&behind, 0);
}

/* A machine that slept: memcached does not count that time, and never will, as
 * we do.  A clock that goes faster than the server's comes to the same. */
EITHER_WAY(memcached_clock, that_leaps_for_good_is_believed_in_the_end)
{
	struct scene s;
	dlock_client *c;
	dlock_lock *l;
	int refused = 0;

	before_a_leap_of_ms(60000);
	s = scene_new(protocol, NULL);
	c = direct(&s, "ttl=30s");
	l = mutex(c, "x");
	give(take(l));
	leap();
	give(take(l));
	/* Now it is known; but a busy machine, too, keeps a server from its
	 * clock for a while. */
	for (int i = 0; i < 10; i++) {
		dlock_hold *h = NULL;
		int rc = dlock_acquire(l, 0, &h);

		if (rc == DLOCK_OK)
			give(h);
		else
			CHECK_RC(rc, DLOCK_EUNREACHABLE);
		refused += rc != DLOCK_OK;
		nap_ms(100);
	}
	CHECK_INT(refused, <=, 3);
	scene_end(&s);
}

/* ... soon enough for a hold to be kept on. */
EITHER_WAY(memcached_clock, that_leaps_for_good_ends_no_hold)
{
	struct scene s;
	dlock_client *c;
	dlock_hold *h;

	before_a_leap_of_ms(3000);
	s = scene_new(protocol, NULL);
	c = direct(&s, "ttl=9s");
	h = take(mutex(c, "x"));
	leap();
	ALL_ALONG(9000, dlock_check(h) == DLOCK_OK);
	give(h);
	scene_end(&s);
}
