/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is 150 ms away, with a URI that does not say so. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(zk_distance, .timeout = 120);

/* A busy machine may need another try, but 40 ms would never be enough. */
CASE(zk_distance, of_150_ms_is_bridged_by_tries)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	dlock_client *near = client(s->port, "?ask=5s");
	dlock_hold *h, *none = NULL;
	dlock_lock *l;

	lab_proxy_delay(p, LAB_UP, 75);
	lab_proxy_delay(p, LAB_DOWN, 75);
	l = mutex(client(lab_proxy_port(p), "?connect=10s"), "x");
	for (int i = 0; i < 5; i++) {
		EVENTUALLY(dlock_acquire(l, 0, &h) == DLOCK_OK);
		CHECK_OK(dlock_release(h));
	}
	CHECK_OK(dlock_acquire(mutex(near, "x"), PATIENCE, &h));
	EVENTUALLY(dlock_acquire(l, 0, &none) == DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
	lab_proxy_heal(p);
}
