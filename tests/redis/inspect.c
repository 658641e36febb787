/* SPDX-License-Identifier: Apache-2.0 */
/* What people are shown, and what they can break. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(redis_inspect, .timeout = 120);

static struct lab_server *server;
static struct diary diary = DIARY_INIT;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	c = client_of(server->port, query, &diary);
	l = mutex(c, "x");
}

struct shown {
	int n;
	char label[8][128];
	uint64_t token[8];
	int64_t remaining_ms[8];
	int waiting[8];
};

static void show(const struct dlock_participant *p, void *arg)
{
	struct shown *s = arg;

	CHECK_INT(s->n, <, 8);
	snprintf(s->label[s->n], sizeof(s->label[0]), "%s", p->label);
	s->token[s->n] = p->token;
	s->remaining_ms[s->n] = p->remaining_ms;
	s->waiting[s->n++] = p->waiting;
}

static struct shown look(void)
{
	struct shown s = { 0 };

	CHECK_OK(dlock_inspect(l, show, &s, patience_ms()));
	return s;
}

CASE(redis_inspect, shows_holder_and_waiters_with_odd_labels)
{
	static const char *const labels[] = { "a b", "new\nline", "", "0 1 2 3",
					      "%s %n" };
	struct taker t = { .linger = 1 };
	dlock_client *other;
	dlock_lock *ol;
	dlock_hold *h;
	struct shown s;

	set_up("ttl=30s");
	taker_start(&t, l, patience_ms());
	EVENTUALLY(t.done);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		dlock_options o = DLOCK_OPTIONS_INIT;
		struct taker w = { 0 };

		o.label = labels[i];
		if (dlock_open(&other, uri_of(server->port, "ask=2s"), &o) < 0)
			continue; /* such a label is not taken at all */
		closed_at_end(other);
		ol = mutex(other, "x");
		taker_queue(&w, other, ol, FOREVER);
		s = look();
		CHECK_INT(s.n, ==, 2);
		CHECK(!s.waiting[0] && s.waiting[1]);
		CHECK(s.token[0] == t.token && s.token[1] == 0);
		CHECK_INT(s.remaining_ms[0], >, 0);
		CHECK_INT(s.remaining_ms[0], <=, 30000);
		if (labels[i][0] && !strchr(labels[i], '\n'))
			CHECK(strcmp(s.label[1], labels[i]) == 0);
		dlock_cancel(ol);
		let_go(&w);
		CHECK_RC(w.rc, DLOCK_ECANCELED);
		end(other, ol);
	}
	let_go(&t);
	CHECK_INT(look().n, ==, 0);
	h = take(l, 0);
	give(h);
}

CASE(redis_inspect, says_what_is_not_ours)
{
	char key[256];
	struct shown s;
	dlock_hold *h;

	set_up("ttl=30s");
	h = take(l, 0);
	snprintf(key, sizeof(key), "%s", only_key(server));
	give(h);
	server_do(server, "SET %s junk PX 60000", key);
	s = look();
	CHECK_INT(s.n, ==, 1);
	CHECK_TEXT(s.label[0], "not dlock's");
	CHECK_INT(s.remaining_ms[0], >, 30000);
	server_do(server, "SET %s junk", key);
	s = look();
	CHECK_INT(s.n, ==, 1);
	CHECK_INT(s.remaining_ms[0], ==, -1);
	server_do(server, "DEL %s", key);
	server_do(server, "RPUSH %s junk", key);
	s.n = 0;
	CHECK_RC(dlock_inspect(l, show, &s, patience_ms()), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), "another type");
	server_do(server, "DEL %s", key);
}

static void count(const struct dlock_lock_info *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

/* Among many keys of others, and under a deadline. */
CASE(redis_inspect, lists_locks_only)
{
	dlock_hold *h;
	int n = 0;

	set_up("ttl=60s");
	h = take(l, 0);
	server_do(server, "EVAL \"for i = 1, 20000 do redis.call('SET', "
			  "KEYS[1] .. i, 'x') end\" 1 other");
	server_do(server, "SET dlock:{lnjunk} junk");
	server_do(server, "SADD dlock:{lnset} junk");
	server_do(server, "SET dlock:{ junk");
	server_do(server, "SET dlock:junk junk");
	CHECK_OK(dlock_list(c, count, &n, patience_ms()));
	CHECK_INT(n, ==, 1);
	give(h);
	server_do(server, "FLUSHALL");
}
