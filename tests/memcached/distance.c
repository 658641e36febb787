/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is 150 ms away, with a URI that does not say so.  For greater
 * distances redis_distance tests the same engine. */
#include "support.h"

#include <stdio.h>

TestSuite(memcached_distance, .timeout = 60);

EITHER_WAY(memcached_distance, of_150_ms_is_bridged_by_every_try)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_hold *h, *none = NULL;
	dlock_lock *l;
	char uri[128];

	lab_proxy_delay(s.proxy, LAB_UP, 75);
	lab_proxy_delay(s.proxy, LAB_DOWN, 75);
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?protocol=%s",
		 lab_proxy_port(s.proxy), protocol);
	l = mutex(open_uri(uri), "x");
	for (int i = 0; i < 5; i++)
		give(take(l, 0));
	h = take(mutex(direct(&s, ""), "x"));
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	give(h);
	lab_proxy_heal(s.proxy);
}
