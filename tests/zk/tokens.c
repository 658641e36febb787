/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens follow the time, and never fall. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "zk/log.h"

TestSuite(zk_tokens, .timeout = 120);

#define NODE "/dlock/tokens"
#define DIR "/dlock/lnlock"
#define EPOCH (INT64_C(1) << 32)
#define MS 1000 /* of a token */

static void write_node(const char *text)
{
	CHECK_INT(zoo_set(bare(), NODE, text, (int)strlen(text), -1), ==, ZOK);
}

/* Write as a client does with a clock that is ahead. */
static void write_anchor(uint64_t us)
{
	char text[64];

	snprintf(text, sizeof(text), "1 %" PRIu64, us);
	write_node(text);
}

/* A new client is exact to the millisecond in which the server counts. */
SHARED(zk_tokens, a_clients_first_is_the_time)
{
	for (int i = 0; i < 5; i++) {
		dlock_client *c = client(s->port, "?ask=5s");
		dlock_lock *l = mutex(c, "lock");
		uint64_t before = wall_us(), token = taken(l);

		CHECK_INT(token, >=, before - before % MS);
		CHECK_INT(token, <=, wall_us());
	}
}

OWN(zk_tokens, a_client_that_was_idle_is_up_to_date)
{
	dlock_client *c = client(s->port, "?ask=5s");
	dlock_lock *l = mutex(c, "lock");

	for (int i = 0; i < 3; i++) {
		uint64_t begun = taken(l);
		int64_t late;

		/* The slower the server, the rarer the anchors. */
		do {
			uint64_t now = wall_us();

			EVENTUALLY(wall_us() - now > 300 * MS);
			now = wall_us();
			late = (int64_t)(now - taken(l));
		} while (late > MS && wall_us() - begun < 20000 * MS);
		CHECK_INT(late, <=, MS);
	}
}

/* A zxid begins with the number of the leader's term. */
CASE(zk_tokens, no_term_of_a_leader_makes_them_jump)
{
	static const int64_t terms[] = { 5, INT32_MAX };

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		struct zk_log log;
		dlock_lock *l;
		uint64_t last = wall_us() - MS;

		zk_log_begin(&log);
		zk_log_create(&log, "/dlock", 1);
		zk_log_create(&log, NODE, 1);
		log.zxid = terms[i] * EPOCH;
		zk_log_create(&log, "/dlock/junk", 2);
		l = mutex(client(zk_log_server(&log)->port, "?ask=5s"), "lock");
		for (int k = 0; k < 10; k++) {
			uint64_t token = taken(l);

			CHECK_INT(token, >, last);
			CHECK_INT(token, <=, wall_us());
			last = token;
		}
	}
}

/* The watch tells of the anchor in time, whenever the other client wrote. */
OWN(zk_tokens, what_another_client_raised_counts_at_once)
{
	dlock_client *c = client(s->port, "?ask=5s");
	dlock_lock *l = mutex(c, "lock");

	for (uint64_t i = 1; i <= 30; i++) {
		uint64_t ahead = wall_us() + i * 100000 * MS;

		CHECK_INT(taken(l), <, ahead);
		write_anchor(ahead);
		CHECK_INT(taken(l), >, ahead);
	}
	CHECK_INT(token_watches(s), ==, 1);
}

/* A waiter's token follows from the place in the queue, not from the time at
 * which the client learnt of the anchor. */
SHARED(zk_tokens, waiters_rise_past_what_is_raised_meanwhile)
{
	enum { WAITERS = 4 };
	struct taker w[WAITERS] = { 0 };
	dlock_client *c[WAITERS];
	uint64_t ahead = wall_us() + 1000000 * MS;
	dlock_client *first = client(s->port, "?ttl=30s&ask=5s");
	dlock_hold *h = take(mutex(first, "lock"), FOREVER);
	uint64_t last = dlock_token(h);

	for (int i = 0; i < WAITERS; i++) {
		c[i] = client(s->port, "?ttl=30s&ask=5s");
		taker_start(&w[i], mutex(c[i], "lock"), FOREVER);
		EVENTUALLY(children_are(DIR, i + 2));
		if (i == 1)
			write_anchor(ahead);
	}
	CHECK_OK(dlock_release(h));
	for (int i = 0; i < WAITERS; i++) {
		CHECK_INT(waiter_join(&w[i]), ==, DLOCK_OK);
		CHECK_INT(w[i].token, >, last);
		last = w[i].token;
		CHECK(i < 2 || last > ahead);
	}
}

SHARED(zk_tokens, a_late_write_takes_nothing_back)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	uint64_t ahead = wall_us() + 1000000 * MS, begun = taken(l);
	struct taker w = { 0 };
	uint64_t up;

	/* The client's anchor is old, and the news of another is late. */
	EVENTUALLY(wall_us() - begun > 1000 * MS);
	lab_proxy_delay(p, LAB_DOWN, 2000);
	write_anchor(ahead);
	up = lab_proxy_stat(p, LAB_UP_CHUNKS);
	taker_start(&w, l, PATIENCE);
	CHECK_INT(lab_proxy_wait(p, LAB_UP_CHUNKS, up + 1, PATIENCE), ==, 0);
	lab_proxy_heal(p);
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	CHECK_INT(w.token, >, ahead);
	CHECK_INT(taken(l), >, w.token);
}

/* The client has joined the queue, and hears neither of that nor of the anchor
 * before: the connection is lost.  A slow first anchor counts for long. */
SHARED(zk_tokens, what_was_raised_counts_over_the_next_connection)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	uint64_t ahead = wall_us() + 1000000 * MS;
	struct taker w = { 0 };

	lab_proxy_delay(p, LAB_DOWN, 20);
	taken(l);
	lab_proxy_hole(p, LAB_DOWN, true);
	write_anchor(ahead);
	taker_start(&w, l, PATIENCE);
	EVENTUALLY(children_are(DIR, 1));
	lab_proxy_reset(p);
	lab_proxy_heal(p);
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	CHECK_INT(w.token, >, ahead);
}

SHARED(zk_tokens, a_node_that_was_deleted_is_made_again)
{
	dlock_client *c = client(s->port, "?ask=5s");
	dlock_lock *l = mutex(c, "lock");
	uint64_t ahead = wall_us() + 1000000 * MS, last = taken(l);

	write_anchor(ahead);
	CHECK_INT(taken(l), >, ahead);
	/* This client remembers. */
	CHECK_INT(zoo_delete(bare(), NODE, -1), ==, ZOK);
	last = taken(l);
	CHECK_INT(last, >, ahead);
	dlock_close(c);
	not_at_end(c);
	/* The next client begins with the clock. */
	CHECK_INT(zoo_delete(bare(), NODE, -1), ==, ZOK);
	c = client(s->port, "?ask=5s");
	CHECK_INT(taken(mutex(c, "lock")), <=, wall_us());
}

SHARED(zk_tokens, nonsense_is_refused_by_name)
{
	dlock_client *c = client(s->port, "?ask=5s");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *none = NULL;

	taken(l);
	write_node("7 and 8");
	CHECK_RC(dlock_acquire(l, 500, &none), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), NODE);
	CHECK_TEXT(dlock_errmsg(), "delete it");
	CHECK_INT(zoo_delete(bare(), NODE, -1), ==, ZOK);
	CHECK_INT(taken(l), <=, wall_us());
}

/* The users share a path: the first user makes the node, and the others may
 * read. */
SHARED(zk_tokens, other_users_follow_and_cannot_write)
{
	dlock_client *app = NULL, *other;
	uint64_t mine, theirs;
	char uri[512];

	make("/dlock"); /* open to all */
	uri_as(uri, "app:sesame@", s->port, "?ask=5s");
	CHECK_OK(dlock_open(&app, uri, NULL));
	mine = taken(mutex(app, "app's"));
	CHECK_INT(zoo_set(bare(), NODE, "", 0, -1), ==, ZNOAUTH);
	other = watched_client(s->port, "?ask=5s");
	theirs = taken(mutex(other, "other's"));
	CHECK_INT(theirs, >, mine);
	EVENTUALLY(diary_says(&diary, NODE " may not be written"));
	CHECK_INT(taken(mutex(app, "app's")), >, theirs);
	CHECK_INT(taken(mutex(other, "other's")), >, theirs);
	dlock_close(app);
}

/* ---- Inspection ---------------------------------------------------------- */

static uint64_t shown;

static void note_token(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	shown = p->token;
	CHECK(!strchr(p->label, '\n'));
}

/* Older versions wrote no anchor: the token is the node's number. */
SHARED(zk_tokens, an_older_holder_is_shown_with_its_own)
{
	dlock_client *c = client(s->port, "?ask=5s");
	dlock_lock *l = mutex(c, "lock");
	struct Stat stat;
	dlock_hold *h;
	char name[256];

	h = take(l, FOREVER);
	CHECK_OK(dlock_inspect(l, note_token, NULL, PATIENCE));
	CHECK_INT(shown, ==, dlock_token(h));
	write_anchor(wall_us() + 1000000 * MS);
	taken(mutex(c, "another"));
	CHECK_OK(dlock_inspect(l, note_token, NULL, PATIENCE));
	CHECK_INT(shown, ==, dlock_token(h));
	CHECK_OK(dlock_release(h));
	CHECK_INT(zoo_create2(
			  bare(), DIR "/0123456789abcdef0123456789abcdef-x-",
			  "host:1", 6, &ZOO_OPEN_ACL_UNSAFE,
			  ZOO_EPHEMERAL_SEQUENTIAL, name, sizeof(name), &stat),
		  ==, ZOK);
	CHECK_OK(dlock_inspect(l, note_token, NULL, PATIENCE));
	CHECK_INT(shown, ==, (uint64_t)stat.czxid);
}

static void *listen_for_revokes(void *hold)
{
	CHECK_OK(dlock_revocable(hold));
	return NULL;
}

/* The client makes an anchor while it asks for another lock. */
CASE(zk_tokens, a_holder_is_shown_with_its_own_past_an_anchor)
{
	struct lab_proxy *p = proxy(shared_server());
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	struct taker t = { .linger = 1 };
	pthread_t listener;
	dlock_hold *h;
	uint64_t up;

	taken(l);
	h = take(mutex(c, "another"), FOREVER);
	up = lab_proxy_stat(p, LAB_UP_CHUNKS);
	lab_proxy_delay(p, LAB_UP, 2000);
	CHECK_INT(pthread_create(&listener, NULL, listen_for_revokes, h), ==,
		  0);
	CHECK_INT(lab_proxy_wait(p, LAB_UP_CHUNKS, up + 1, PATIENCE), ==, 0);
	taker_start(&t, l, FOREVER);
	CHECK_INT(lab_proxy_wait(p, LAB_UP_CHUNKS, up + 2, PATIENCE), ==, 0);
	lab_proxy_heal(p);
	CHECK_INT(pthread_join(listener, NULL), ==, 0);
	EVENTUALLY(t.done);
	CHECK_OK(dlock_inspect(l, note_token, NULL, PATIENCE));
	CHECK_INT(shown, ==, t.token);
	CHECK_OK(let_go(&t));
	CHECK_OK(dlock_release(h));
}

/* Another anchor is made before the node; the connection is lost before the
 * node's data follows. */
CASE(zk_tokens, a_holder_is_shown_with_its_own_past_a_lost_connection)
{
	struct lab_proxy *p = proxy(shared_server());
	dlock_client *c = client(lab_proxy_port(p),
				 "?ttl=30s&ask=5s&label=tagged");
	dlock_lock *l = mutex(c, "lock");
	struct taker t = { .linger = 1 };

	taken(l);
	lab_proxy_hold(p, "tagged");
	taker_start(&t, l, FOREVER);
	CHECK_INT(lab_proxy_wait(p, LAB_HELD, 1, PATIENCE), ==, 0);
	write_anchor(wall_us() + 1000000 * MS);
	lab_proxy_hold(p, "tagged");
	(void)lab_proxy_deliver(p);
	CHECK_INT(lab_proxy_wait(p, LAB_HELD, 2, PATIENCE), ==, 0);
	lab_proxy_reset(p);
	EVENTUALLY(t.done);
	CHECK_OK(dlock_inspect(l, note_token, NULL, PATIENCE));
	CHECK_INT(shown, ==, t.token);
	CHECK_OK(let_go(&t));
}
