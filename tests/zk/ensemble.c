/* SPDX-License-Identifier: Apache-2.0 */
/* Three nodes: a minority, a follower without a leader. */
#include "zk/three.h"

#include <criterion/criterion.h>

TestSuite(zk_ensemble, .timeout = 180);

CASE(zk_ensemble, a_minority_grants_nothing)
{
	struct lab_ensemble *e = ensemble(NULL);
	dlock_client *c = client_of_all(e, "?ttl=2s&close=500ms&tick=100ms");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h = take(l, PATIENCE), *no_hold = NULL;
	int leader = lab_ensemble_leader(e);

	CHECK_INT(lab_server_pause(e->node[leader]), ==, 0);
	CHECK_INT(lab_server_kill(e->node[(leader + 1) % LAB_NODES]), ==, 0);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_RC(dlock_acquire(l, 1000, &no_hold), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_resume(e->node[leader]), ==, 0);
	CHECK_INT(lab_server_restart(e->node[(leader + 1) % LAB_NODES], true),
		  ==, 0);
	CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
}

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
