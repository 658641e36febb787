/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is 150 ms away, with a URI that does not say so. */
#include "support.h"

#include <stdio.h>

#include "support/check.h"

TestSuite(memcached_distance, .timeout = 60);

EITHER_WAY(memcached_distance, of_150_ms_is_bridged_by_every_try)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *far = NULL;
	dlock_hold *h, *none = NULL;
	dlock_lock *l;
	char uri[128];

	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?protocol=%s",
		 lab_proxy_port(s.proxy), protocol);
	lab_proxy_delay(s.proxy, LAB_UP, 75);
	lab_proxy_delay(s.proxy, LAB_DOWN, 75);
	CHECK_OK(dlock_open(&far, uri, NULL));
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
