/* SPDX-License-Identifier: Apache-2.0 */
/* A frozen server of three: it takes connections, and does not answer. */
#include "zk/three.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "backends/zk/session.h"
#include "core/client.h"
#include "support/stall.h"

TestSuite(zk_frozen, .timeout = 600);

#define TICK_MS 100 /* of all clients here */

/* The follower freezes so many 2,000ths of the ttl after a renewal.  0: the
 * machine stalled for longer than the client waits for an answer, and the hold
 * was lost. */
static int survives(struct lab_ensemble *e,
		    struct lab_proxy *const way[LAB_NODES], int64_t ttl_ms,
		    int64_t part)
{
	int follower = lab_ensemble_follower(e);
	int64_t stalled = stalled_ms();
	char params[80];
	dlock_client *c;
	dlock_hold *h;
	int rc;

	snprintf(params, sizeof(params),
		 "?ttl=%dms&tick=100ms&ask=2s&connect=10s", (int)ttl_ms);
	c = client_at(way, follower, params);
	h = take(mutex(c, "lock"), PATIENCE);
	/* Less than two ticks are off, after a renewal that was answered in
	 * time. */
	EVENTUALLY((stats(c).renewed > 0 &&
		    dlock_remaining_ms(h) > ttl_ms * 2 / 3) ||
		   dlock_check(h) != DLOCK_OK);
	nap_ms(ttl_ms * part / 2000);
	CHECK_INT(lab_server_pause(e->node[follower]), ==, 0);
	/* Without a renewal the lease is over after half of this. */
	nap_ms(2 * ttl_ms);
	CHECK_OK(dlock_release(take(mutex(c, "other"), PATIENCE)));
	CHECK_INT(lab_server_resume(e->node[follower]), ==, 0);
	nap_ms(3 * TICK_MS); /* the follower catches up */
	rc = dlock_release(h);
	end_now(c);
	if (rc == DLOCK_ELOST && stalled_ms() - stalled > ttl_ms / 6)
		return 0;
	CHECK_OK(rc);
	return 1;
}

/* The server freezes at different times between two renewals. */
CASE(zk_frozen, a_hold_survives_its_server)
{
	struct lab_ensemble *e = ensemble(NULL);
	struct lab_proxy *way[LAB_NODES];

	stall_watch();
	make_ways(way, e);
	for (int i = 0; i < rounds(2); i++) {
		int64_t ttl_ms = 2000;

		for (; !survives(e, way, ttl_ms, i * 640 % 700); ttl_ms *= 2)
			CHECK_INT(ttl_ms, <, PATIENCE);
	}
}

/* Each client tries the servers in another order. */
CASE(zk_frozen, does_not_keep_clients_from_opening)
{
	struct lab_ensemble *e = ensemble(NULL);
	int follower = lab_ensemble_follower(e);

	CHECK_INT(lab_server_pause(e->node[follower]), ==, 0);
	for (int i = 0; i < rounds(12); i++) {
		dlock_client *c =
			client_of_all(e, "?tick=100ms&connect=2s&ask=2s");

		CHECK_OK(dlock_release(take(mutex(c, "lock"), PATIENCE)));
		end_now(c);
	}
}

/* A server with a higher limit grants more to a session that moves there, and a
 * new leader gives the session the time-out that it began with. */
CASE(zk_frozen, a_move_makes_no_session_longer)
{
	enum { LOW_MS = 2000, MOST_MS = LOW_MS / 20 * 19 };
	struct lab_zk_options o = { .max_session_ms = 60000,
				    .max_session_of_first_ms = LOW_MS };
	struct lab_ensemble *e = ensemble(&o);
	struct lab_proxy *way[LAB_NODES];
	dlock_client *c;
	dlock_hold *h;

	make_ways(way, e);
	c = client_at(way, 0, "?ttl=30s&tick=100ms&ask=2s&connect=10s");
	h = take(mutex(c, "lock"), PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <=, MOST_MS);
	CHECK_INT(lab_server_pause(e->node[0]), ==, 0);
	for (int i = 0; i < 3; i++) {
		uint64_t renewed = stats(c).renewed;

		EVENTUALLY(stats(c).renewed > renewed);
		CHECK_INT(dlock_remaining_ms(h), <=, MOST_MS);
	}
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
	h = take(mutex(c, "other"), PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <=, MOST_MS);
	CHECK_OK(dlock_release(h));
	CHECK_INT(lab_server_resume(e->node[0]), ==, 0);
}

/* A lease rests on four round trips, each of a twelfth of the ttl at most.
 * Here each has a sixteenth, and the rest is for a busy machine. */
CASE(zk_frozen, a_slow_way_is_no_frozen_server)
{
	struct lab_proxy *p;
	dlock_client *c = slow_client(&p, "?ttl=4s&tick=100ms&ask=4s", 125);
	dlock_hold *h = take(mutex(c, "lock"), PATIENCE);

	EVENTUALLY(stats(c).renewed >= 4); /* more than a lease later */
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
}

static int try(dlock_lock *l)
{
	dlock_hold *h = NULL;
	int rc = dlock_acquire(l, 0, &h);

	if (h)
		dlock_release(h);
	return rc;
}

/* Four round trips of a fifth of the ttl leave too little of a lease, however
 * long a try asks for evidence.  The first try has evidence from before. */
CASE(zk_frozen, a_slower_way_is_told_to_tries)
{
	struct lab_proxy *p;
	dlock_client *c = slow_client(&p, "?ttl=4s&tick=100ms&ask=5s", 400);
	dlock_lock *l = mutex(c, "lock");

	EVENTUALLY(try(l) == DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "they answer slowly");
	lab_proxy_heal(p);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
}

/* The servers' limits were lowered: later holds are shorter. */
CASE(zk_frozen, lower_limits_leave_an_open_client_of_use)
{
	struct lab_zk_options low = { .max_session_ms = 4000 };
	struct lab_server *before = server(NULL), *after = server(&low);
	struct lab_address to = lab_server_address(after);
	struct lab_proxy *p = proxy(before);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=2s");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h;

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	/* The client library refuses a server with a lower zxid. */
	for (int i = 0; i < 20; i++) {
		make("/past");
		drop("", "past");
	}
	lab_proxy_aim(p, &to);
	lab_proxy_reset(p);
	h = take(l, PATIENCE);
	CHECK_INT(dlock_remaining_ms(h), <=, 4000);
	CHECK_INT(dlki_zk_session_of(c->session)->hosts.patience_ns, <=,
		  4000 * DLK_MS / 6);
	EVENTUALLY(stats(c).renewed >= 3 || dlock_check(h) < 0);
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
}
