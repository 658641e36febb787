/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two holders, if a lease trusted that pings are answered in time.  The
 * leader's messages come late while a holder renews at a follower, and then the
 * follower's messages to the leader are lost.  So the holder has the answers,
 * and the leader never hears of the session.  Another client waits at the
 * leader.
 */
#include "zk/three.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_held_up, .timeout = 1800);

/* The ttl has as many ticks as by default. */
#define TICK_MS 500
#define TTL_MS (15 * TICK_MS)
#define QUERY "?ttl=7500ms&tick=500ms&ask=3s&close=1s"

/* A renewal comes each third of the ttl.  The read before a renewal is sent a
 * tick and a quarter earlier, and a fiftieth of the ttl. */
#define RENEWAL_MS (TTL_MS / 3)
#define HOLD_MS (RENEWAL_MS - TTL_MS / 50 - TICK_MS * 3 / 2)

/* A follower stays while the leader is silent. */
static const struct lab_zk_options servers = { .tick_ms = TICK_MS,
					       .min_session_ms = 2 * TICK_MS,
					       .config = "syncLimit=60\n" };

struct stage {
	struct lab_ensemble *e;
	int follower;
	struct lab_proxy *between; /* up: from the follower to the leader */
	struct lab_proxy *way[LAB_NODES];
	dlock_client *holder, *other;
};

static void stage_set(struct stage *s)
{
	int leader;

	memset(s, 0, sizeof(*s));
	s->e = linked_ensemble(&servers);
	leader = lab_ensemble_leader(s->e);
	s->follower = lab_ensemble_follower(s->e);
	s->between = s->e->link[s->follower][leader];
	make_ways(s->way, s->e);
	s->other = client(s->e->node[leader]->port,
			  "?ttl=20s&ask=2s&tick=500ms");
}

/* The holder shares the follower's uplink, and reaches the other two servers
 * no more than the follower does. */
static void lose_messages_of_follower(struct stage *s, int on)
{
	lab_proxy_hole(s->between, LAB_UP, on);
	for (int i = 0; i < LAB_NODES; i++) {
		if (i != s->follower)
			lab_proxy_hole(s->way[i], LAB_UP, on);
	}
}

/* Hold up the leader's messages over a renewal, and lose the follower's from
 * then on. */
static void renew_without_leader(struct stage *s)
{
	uint64_t renewed = stats(s->holder).renewed, up;

	EVENTUALLY(stats(s->holder).renewed > renewed);
	nap_ms(HOLD_MS);
	lab_proxy_hole(s->between, LAB_DOWN, true);
	up = lab_proxy_stat(s->between, LAB_UP_CHUNKS);
	nap_ms(RENEWAL_MS - HOLD_MS + TICK_MS / 2);
	/* The holder has sent the renewal. */
	CHECK(lab_proxy_stat(s->between, LAB_UP_CHUNKS) > up);
	lose_messages_of_follower(s, true);
	lab_proxy_hole(s->between, LAB_DOWN, false);
}

/* Return by how much the hold ended before the next began, in ms. */
static int64_t scene(struct stage *s, const char *name)
{
	struct taker heir = { 0 };
	int64_t lost_at_ms;
	dlock_hold *h = take(mutex(s->holder, "lock"), PATIENCE);

	taker_start(&heir, mutex(s->other, "lock"), 4 * PATIENCE);
	EVENTUALLY(stats(s->other).waiters == 1);
	renew_without_leader(s);
	EVENTUALLY(dlock_check(h) != DLOCK_OK);
	lost_at_ms = now_ms();
	EVENTUALLY(heir.done);
	CHECK_OK(waiter_join(&heir));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	lose_messages_of_follower(s, false);
	end_now(s->holder);
	CHECK_INT(lab_ensemble_wait(s->e, 30000), ==, 0);
	fprintf(stderr, "%s: the hold ended %+" PRId64 " ms before the next\n",
		name, heir.done_ms - lost_at_ms);
	return heir.done_ms - lost_at_ms;
}

static void repeat(const char *name, int names_all)
{
	struct stage s;
	int overlaps = 0;

	stage_set(&s);
	for (int i = 0; i < rounds(1); i++) {
		s.holder = names_all ?
				   client_at(s.way, s.follower, QUERY) :
				   client(s.e->node[s.follower]->port, QUERY);
		overlaps += scene(&s, name) < 0;
	}
	CHECK_INT(overlaps, ==, 0);
}

CASE(zk_held_up, pings_that_come_late_prolong_no_lease)
{
	repeat("late pings", 0);
}

CASE(zk_held_up, servers_out_of_reach_prolong_no_lease)
{
	repeat("late pings, three servers", 1);
}
