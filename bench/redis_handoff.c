/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/handoff.h"
#include "bench/server.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

/* As often as handoff.c looks whether the waiter sleeps, before each hand-off:
 * a round trip after a pause is slower than one right behind another. */
#define PAUSE_NS 300000
#define PINGS 500

/* The floor: one blocks in BLPOP, the other pushes. */
struct bare {
	struct server server;
	int holds;
};

static int bare_do(struct bare *b, const char *command)
{
	redisReply *reply = redisCommand(b->server.bare, command);
	int bad = !reply || reply->type == REDIS_REPLY_ERROR;

	if (reply)
		freeReplyObject(reply);
	return bad ? bench_fail(b->server.run, "bare hiredis: %s", command) : 0;
}

/* `where` is the server, which was started before the waiter was forked. */
static const struct server *the_server;

static int bare_open(struct bench_run *r, const char *where, void *other,
		     void **out)
{
	struct bare *b = calloc(1, sizeof(*b));
	int rc;

	(void)where;
	(void)other;
	if (!b)
		return bench_fail(r, "out of memory");
	b->server = *the_server;
	b->server.run = r;
	b->server.bare = NULL;
	rc = server_connect(&b->server);
	if (rc == 0)
		*out = b;
	else
		free(b);
	return rc;
}

static void bare_close(void *lock)
{
	struct bare *b = lock;

	server_disconnect(&b->server);
	free(b);
}

static int bare_take(void *lock)
{
	return bare_do(lock, "BLPOP handoff 0");
}

static int bare_give(void *lock)
{
	return bare_do(lock, "RPUSH handoff x");
}

static int measure(struct server *s, struct bench_result *res)
{
	const struct handoff plan = {
		.floor = { bare_open, bare_close, bare_take, bare_give, NULL },
		.ours = handoff_dlock,
		.our_where = s->uri,
	};
	struct bare first = { .server = *s };
	double ping = server_ping_p50(s, PINGS, PAUSE_NS);
	double again;
	int rc = bare_give(&first); /* the token that goes round */

	the_server = s;
	if (rc == 0)
		rc = handoff_measure(s->run, &plan, res);
	if (rc != 0)
		return rc;
	again = server_ping_p50(s, PINGS, PAUSE_NS);
	if (again < ping)
		ping = again;
	bench_extra(res, "ping_p50", ping);
	bench_extra(res, "ping_hot_p50", server_ping_p50(s, 20000, 0));
	bench_extra(res, "to_blpop", res->ratio);
	res->ratio = res->value / ping;
	return 0;
}

static int run(struct bench_run *r)
{
	struct bench_result res =
		BENCH_RESULT_INIT("ns (ratio = p50 / PING p50; floor: BLPOP)");
	struct server s;
	int rc;

	bench_pin(r);
	rc = server_open(&s, r, "");
	if (rc != 0)
		return rc;
	rc = measure(&s, &res);
	server_close(&s);
	if (rc != 0)
		return rc;
	bench_limit(&res, (struct bench_limit){ "ratio", res.ratio, 2.5, 6,
						BENCH_TIME });
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_redis_handoff = {
	.name = "redis.handoff",
	.summary = "redis: from release to a waiter in another process, to a "
		   "PING; floor: RPUSH to a BLPOP",
	.run = run,
};
