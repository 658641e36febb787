/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two holders, if a lease trusted that pings are answered in time.  The
 * leader's messages come late while a holder renews at a follower, and then the
 * follower's messages to the leader are lost.  So the holder has the answers,
 * and the leader never hears of the session.  Another client waits at the
 * leader.
 */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"
#include "lab/servers/ensemble.h"

TestSuite(zk_held_up, .timeout = 1800);

/* The ttl has as many ticks as by default. */
#define TICK_MS 500
#define TTL_MS (15 * TICK_MS)
#define QUERY "?ttl=7500ms&tick=500ms&ask=3s&close=1s"

/* A renewal comes each third of the ttl.  The read before it is sent a tick and
 * a quarter earlier, and a fiftieth of the ttl. */
#define RENEWAL_MS (TTL_MS / 3)
#define HOLD_MS (RENEWAL_MS - TTL_MS / 50 - TICK_MS * 3 / 2)

/* A follower stays while the leader is silent. */
static const struct lab_zk_options servers = { .tick_ms = TICK_MS,
					       .min_session_ms = 2 * TICK_MS,
					       .config = "syncLimit=60\n" };

/* $DLOCK_TEST_ROUNDS asks for more. */
static int rounds(void)
{
	const char *text = getenv("DLOCK_TEST_ROUNDS");

	return text ? (int)strtol(text, NULL, 10) : 1;
}

struct stage {
	struct lab_ensemble *e;
	int leader, follower;
	struct lab_proxy *between; /* up: from the follower to the leader */
	struct lab_proxy *way[LAB_NODES];
	dlock_client *holder, *other;
};

static void stage_set(struct stage *s)
{
	memset(s, 0, sizeof(*s));
	s->e = lab_ensemble_start_linked(&servers);
	if (!s->e)
		FAIL("%s", lab_errmsg());
	s->leader = lab_ensemble_leader(s->e);
	s->follower = lab_ensemble_follower(s->e);
	s->between = s->e->link[s->follower][s->leader];
	for (int i = 0; i < LAB_NODES; i++)
		s->way[i] = proxy(s->e->node[i]);
	s->other = client(s->e->node[s->leader]->port,
			  "?ttl=20s&ask=2s&tick=500ms");
}

static void stage_clear(struct stage *s)
{
	dlock_close(s->other);
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_free(s->way[i]);
	lab_ensemble_free(s->e);
}

static void open_at_follower(struct stage *s, int names_all)
{
	char uri[256];

	if (!names_all) {
		s->holder = client(s->e->node[s->follower]->port, QUERY);
		return;
	}
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_refuse(s->way[i], i != s->follower);
	snprintf(uri, sizeof(uri),
		 "zk://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/" QUERY,
		 lab_proxy_port(s->way[0]), lab_proxy_port(s->way[1]),
		 lab_proxy_port(s->way[2]));
	CHECK_OK(dlock_open(&s->holder, uri, NULL));
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_refuse(s->way[i], false);
}

/* The holder shares the follower's uplink, and does not get to the other two
 * servers either. */
static void lose_messages_of_follower(struct stage *s, int on)
{
	lab_proxy_hole(s->between, LAB_UP, on);
	for (int i = 0; i < LAB_NODES; i++) {
		if (i != s->follower)
			lab_proxy_hole(s->way[i], LAB_UP, on);
	}
}

/* ---- A scene ------------------------------------------------------------- */

enum trouble { LINK_IS_SLOW, LEADER_PAUSES };

static void hold_up(struct stage *s, enum trouble trouble, bool on)
{
	struct lab_server *leader = s->e->node[s->leader];

	if (trouble == LINK_IS_SLOW)
		lab_proxy_hole(s->between, LAB_DOWN, on);
	else
		CHECK_INT(on ? lab_server_pause(leader) :
			       lab_server_resume(leader),
			  ==, 0);
}

/* Hold up the leader's messages over a renewal, and lose the follower's from
 * then on. */
static void renew_without_leader(struct stage *s, enum trouble trouble)
{
	uint64_t renewed = stats(s->holder).renewed, up;

	EVENTUALLY(stats(s->holder).renewed > renewed);
	nap_ms(HOLD_MS);
	hold_up(s, trouble, true);
	up = lab_proxy_stat(s->between, LAB_UP_CHUNKS);
	nap_ms(RENEWAL_MS - HOLD_MS + TICK_MS / 2);
	/* The holder has asked. */
	CHECK(lab_proxy_stat(s->between, LAB_UP_CHUNKS) > up);
	lose_messages_of_follower(s, true);
	hold_up(s, trouble, false);
}

/* Returns by how much the hold ended before the next began, in ms. */
static int64_t scene(struct stage *s, const char *name, enum trouble trouble,
		     int names_all)
{
	struct taker heir = { 0 };
	int64_t lost_at_ms;
	dlock_hold *h;

	open_at_follower(s, names_all);
	h = take(mutex(s->holder, "lock"), PATIENCE);
	taker_start(&heir, mutex(s->other, "lock"), 4 * PATIENCE);
	EVENTUALLY(stats(s->other).waiters == 1);
	renew_without_leader(s, trouble);
	EVENTUALLY(dlock_check(h) != DLOCK_OK);
	lost_at_ms = now_ms();
	EVENTUALLY(heir.done);
	CHECK_OK(taker_join(&heir));
	CHECK_OK(heir.release_rc);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	lose_messages_of_follower(s, false);
	dlock_close(s->holder);
	CHECK_INT(lab_ensemble_wait(s->e, 30000), ==, 0);
	fprintf(stderr, "%s: the hold ended %+" PRId64 " ms before the next\n",
		name, heir.done_ms - lost_at_ms);
	return heir.done_ms - lost_at_ms;
}

static void repeat(const char *name, enum trouble trouble, int names_all)
{
	struct stage s;
	int overlaps = 0;

	stage_set(&s);
	for (int i = 0; i < rounds(); i++)
		overlaps += scene(&s, name, trouble, names_all) < 0;
	CHECK_INT(overlaps, ==, 0);
	stage_clear(&s);
}

Test(zk_held_up, pings_that_come_late_prolong_no_lease)
{
	repeat("late pings", LINK_IS_SLOW, 0);
}

Test(zk_held_up, a_leader_that_pauses_prolongs_no_lease)
{
	repeat("a pause of the leader", LEADER_PAUSES, 0);
}

Test(zk_held_up, servers_out_of_reach_prolong_no_lease)
{
	repeat("late pings, three servers", LINK_IS_SLOW, 1);
}
