/* SPDX-License-Identifier: Apache-2.0 */
/* Three nodes: a dying leader, a minority, a follower without a leader. */
#include "zk/three.h"

#include <criterion/criterion.h>
#include <string.h>

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

/* The holder releases before, during and after the election of the next
 * leader.  Whatever messages are lost, every waiter has a turn. */
CASE(zk_ensemble, waiters_outlive_their_leader, .timeout = 1200)
{
	enum { WAITERS = 6 };
	struct lab_ensemble *e = linked_ensemble(NULL);
	struct taker w[WAITERS] = { 0 };
	dlock_client *c[3];
	dlock_lock *l[3];
	uint64_t token = 0;

	for (int i = 0; i < 3; i++) {
		c[i] = client_of_all(e, "?ttl=20s&ask=2s&tick=100ms");
		l[i] = mutex(c[i], "lock");
	}
	for (int i = 0; i < rounds(3); i++) {
		dlock_hold *h = take(l[0], PATIENCE);
		int leader = lab_ensemble_leader(e);
		int rc;

		CHECK_INT(dlock_token(h), >, token);
		token = dlock_token(h);
		for (int j = 0; j < WAITERS; j++)
			taker_start(&w[j], l[1 + j % 2], 2 * PATIENCE);
		EVENTUALLY(stats(c[1]).waiters + stats(c[2]).waiters ==
			   WAITERS);
		CHECK_INT(leader, >=, 0);
		CHECK_INT(lab_server_kill(e->node[leader]), ==, 0);
		nap_ms(i % 3 * 200);
		if (i % 3 == 2)
			EVENTUALLY(lab_ensemble_leader(e) >= 0);
		CHECK_OK(dlock_check(h));
		rc = dlock_release(h);
		CHECK(rc == DLOCK_OK || rc == DLOCK_EUNREACHABLE);
		for (int j = 0; j < WAITERS; j++)
			CHECK_INT(waiter_join(&w[j]), ==, DLOCK_OK);
		CHECK_INT(lab_server_restart(e->node[leader], true), ==, 0);
		CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	}
	for (int i = 0; i < 3; i++)
		CHECK_INT(stats(c[i]).lost, ==, 0);
}
