/* SPDX-License-Identifier: Apache-2.0 */
/* The server's clock and ours, when one of them leaps for good. */
#include "support.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"

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
	atomic_store(&behind, ms * DLK_MS);
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
	uint64_t uptime_s;

	before_a_leap_of_ms(60000);
	s = scene_new(protocol, NULL);
	c = direct(&s, "ttl=30s&ask=1s");
	l = mutex(c, "x");
	give(take(l));
	leap();
	uptime_s = uptime_of(&s);
	give(take(l));
	CHECK_INT(uptime_of(&s), >, uptime_s);
	/* For a second, in which the server's count goes on. */
	for (int i = 0; i < 10; i++) {
		dlock_hold *h = NULL;

		CHECK_OK(dlock_acquire(l, 0, &h));
		give(h);
		nap_ms(100);
	}
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
	ALL_ALONG(dlock_ttl_ms(c), dlock_check(h) == DLOCK_OK);
	give(h);
	scene_end(&s);
}
