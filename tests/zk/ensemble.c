/* SPDX-License-Identifier: Apache-2.0 */
/* Three nodes: a follower without a leader. */
#include "zk/three.h"

#include <criterion/criterion.h>

TestSuite(zk_ensemble, .timeout = 180);

/* The follower serves reads for sixty ticks.  The create is not answered in
 * time, but a listing of the queue suffices. */
CASE(zk_ensemble, a_try_of_a_held_lock_is_busy_though_nothing_is_written)
{
	struct lab_zk_options o = { .config = "syncLimit=60\n" };
	struct lab_ensemble *e = ensemble(&o);
	int port = e->node[lab_ensemble_follower(e)]->port;
	dlock_client *a = client(port, "?ttl=30s&close=300ms");
	dlock_client *b = client(port, "?ttl=30s&ask=150ms&close=300ms");
	dlock_hold *h = take(mutex(a, "lock"), PATIENCE);
	dlock_lock *l = mutex(b, "lock");

	CHECK_INT(lab_server_pause(e->node[lab_ensemble_leader(e)]), ==, 0);
	is_busy(l);
	CHECK(strstr(dlock_errmsg(), "held by"));
	CHECK_OK(dlock_check(h));
	end_now(a);
	drop_hold(h);
}
