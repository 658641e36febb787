/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is 150 ms away or more, with a URI that does not say so. */
#include "support.h"

#include <stdio.h>

#include "support/check.h"

TestSuite(memcached_distance, .timeout = 60);

static dlock_client *far_client(const struct scene *s, const char *protocol)
{
	dlock_client *c = NULL;
	char uri[128];

	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?protocol=%s",
		 lab_proxy_port(s->proxy), protocol);
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

EITHER_WAY(memcached_distance, of_150_ms_is_bridged_by_every_try)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *far;
	dlock_hold *h, *none = NULL;
	dlock_lock *l;

	lab_proxy_delay(s.proxy, LAB_UP, 75);
	lab_proxy_delay(s.proxy, LAB_DOWN, 75);
	far = far_client(&s, protocol);
	CHECK_OK(dlock_mutex_new(&l, far, "x"));
	for (int i = 0; i < 5; i++) {
		CHECK_OK(dlock_acquire(l, 0, &h));
		CHECK_OK(dlock_release(h));
	}
	h = take(mutex(direct(&s, ""), "x"));
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	give(h);
	lab_proxy_heal(s.proxy);
	dlock_lock_free(l);
	dlock_close(far);
	scene_end(&s);
}

/* A single acquire has no time to connect, be greeted and ask, so later
 * acquires use the connection. */
EITHER_WAY(memcached_distance, that_grows_to_400_ms_is_found_by_tries)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *far = far_client(&s, protocol);
	dlock_hold *h;
	dlock_lock *l;

	CHECK_OK(dlock_mutex_new(&l, far, "x"));
	for (int i = 0; i < 20; i++)
		give(take(l));
	lab_proxy_delay(s.proxy, LAB_UP, 200);
	lab_proxy_delay(s.proxy, LAB_DOWN, 200);
	EVENTUALLY(dlock_acquire(l, 0, &h) == DLOCK_OK);
	give(h);
	for (int i = 0; i < 3; i++) {
		CHECK_OK(dlock_acquire(l, 0, &h));
		give(h);
	}
	lab_proxy_heal(s.proxy);
	dlock_lock_free(l);
	dlock_close(far);
	scene_end(&s);
}
