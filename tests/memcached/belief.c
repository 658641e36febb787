/* SPDX-License-Identifier: Apache-2.0 */
/* The waiters of one client, which believe what one of them was told. */
#include "support.h"

/* It came free long before the deadline, whatever another was told before. */
EITHER_WAY(memcached_belief, does_not_stand_for_the_last_look)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=60s&retry_max=10s");
	dlock_lock *l = mutex(c, "x");
	struct waiter w;
	struct dlock_stats stats = { .size = sizeof(stats) };
	dlock_hold *theirs = take(mutex(direct(&s, ""), "x"));

	waiter_start(&w, l, 3000);
	EVENTUALLY(dlock_get_stats(c, &stats) == 0 && stats.waiters == 1);
	ask(l, 0, DLOCK_EBUSY);
	give(theirs);
	CHECK_OK(waiter_join(&w));
	scene_end(&s);
}
