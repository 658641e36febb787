/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private Redis and the floors, all with hiredis: SET NX PX and a
 * compare-and-delete by EVALSHA, tried each millisecond by waiters; and RPUSH
 * to a client that blocks in BLPOP.
 */
#include "bench/store.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"
#include "lab/servers/redis.h"

#define KEY "bare"
#define OWNER "0123456789abcdef0123456789abcdef"
#define UNLOCK                                                                 \
	"if redis.call('GET',KEYS[1])==ARGV[1] then "                          \
	"return redis.call('DEL',KEYS[1]) end return 0"

/* ---- The server ---------------------------------------------------------- */

static void store_open(struct bench_store *s)
{
	store_serve(s, lab_redis_start(NULL), "");
}

/* How often clients have called `command`, and for how long in all. */
static double calls(const char *text, const char *command, double *us)
{
	const char *line = strstr(text, command);
	double n = 0;

	*us = 0;
	if (line)
		sscanf(line + strlen(command), "calls=%lf,usec=%lf", &n, us);
	return n;
}

static struct store_load store_load(const struct bench_store *s)
{
	struct store_load load;
	char text[16384];
	double us[2];

	if (lab_redis_do(s->server, text, sizeof(text), "INFO commandstats") !=
	    0)
		bench_fail("%s", lab_errmsg());
	load.replies = calls(text, "cmdstat_publish:", &us[0]);
	load.requests = calls(text, "cmdstat_evalsha:", &us[0]) +
			calls(text, "cmdstat_eval:", &us[1]);
	load.script_us = us[0] + us[1];
	return load;
}

/* Attempts of waiters that go on waiting are among the requests. */
#define STORE(scheme, opener)                                                  \
	{                                                                      \
		.name = (scheme), .open = (opener), .load = store_load,        \
		.requests = "requests", .replies = "published",                \
		.idle = "looks_per_waiter_ttl", .idle_per_waiter = 1,          \
	}
const struct store_desc store_redis = STORE("redis", store_open);
#ifdef BENCH_REDISS
const struct store_desc store_rediss = STORE("rediss", store_rediss_open);
#endif

/* ---- A connection -------------------------------------------------------- */

static char unlock[128]; /* runs the compare-and-delete script */

static redisReply *checked(redisContext *redis, void *reply)
{
	redisReply *r = reply;

	if (!r || r->type == REDIS_REPLY_ERROR)
		bench_fail("bare hiredis: %s", r ? r->str : redis->errstr);
	return r;
}

/* The integer reply, or the type of any other. */
static long long command(const struct bench_lock *l, const char *text)
{
	redisReply *reply = checked(l->conn, redisCommand(l->conn, text));
	long long answer = reply->type == REDIS_REPLY_INTEGER ? reply->integer :
								reply->type;

	freeReplyObject(reply);
	return answer;
}

static void open_bare(struct bench_lock *l)
{
	redisContext *c = redisConnect(LAB_LOOPBACK, l->store->server->port);
	redisReply *reply;

	if (!c || c->err)
		bench_fail("bare hiredis: %s", c ? c->errstr : "out of memory");
	reply = checked(c, redisCommand(c, "SCRIPT LOAD %s", UNLOCK));
	snprintf(unlock, sizeof(unlock), "EVALSHA %s 1 " KEY " " OWNER,
		 reply->str);
	freeReplyObject(reply);
	l->conn = c;
}

static void close_bare(struct bench_lock *l)
{
	redisFree(l->conn);
}

static double ping(const struct bench_lock *l)
{
	int64_t begin = bench_now();

	command(l, "PING");
	return (double)(bench_now() - begin);
}

/* The median round trip of PINGs, without pauses. */
static double hot_ping_p50(const struct bench_store *s)
{
	struct bench_lock *l = bench_lock_open(&floor_redis_set, s);
	struct bench_samples took = bench_samples(20000);

	while (took.n < took.room)
		bench_sample(&took, ping(l));
	bench_lock_close(l);
	return bench_median(&took);
}

/* ---- SET NX PX ----------------------------------------------------------- */

static int set_try(const struct bench_lock *l)
{
	return command(l, "SET " KEY " " OWNER " NX PX 30000") ==
	       REDIS_REPLY_STATUS;
}

static void set_acquire(struct bench_lock *l)
{
	while (!set_try(l))
		bench_sleep(BENCH_MS);
}

static void set_release(struct bench_lock *l)
{
	if (command(l, unlock) != 1)
		bench_fail("the bare lock was gone");
}

static void set_pair(void *lock)
{
	if (!set_try(lock))
		bench_fail("the bare lock was taken");
	set_release(lock);
}

static void report_ping(const struct bench_store *s, struct bench_result *res)
{
	bench_extra(res, hot_ping_p50(s), "ping_p50");
}

const struct lock_ops floor_redis_set = {
	.open = open_bare,
	.close = close_bare,
	.acquire = set_acquire,
	.release = set_release,
	.pair = set_pair,
	.finish = report_ping,
};

/* ---- BLPOP --------------------------------------------------------------- */

/* A hand-off pauses so long before the release: a PING after a pause is
 * slower. */
#define PAUSE_NS 300000

static struct bench_samples pings;

static void blpop_acquire(struct bench_lock *l)
{
	command(l, "BLPOP handoff 0");
}

static void blpop_release(struct bench_lock *l)
{
	command(l, "RPUSH handoff x");
}

/* Push the item that goes from hand to hand. */
static void blpop_prepare(const struct bench_store *s)
{
	struct bench_lock *l = bench_lock_open(&floor_redis_blpop, s);

	blpop_release(l);
	bench_lock_close(l);
	pings = bench_samples(100000);
}

/* Between two hand-offs, because how fast a machine is changes from second to
 * second. */
static void blpop_beside(struct bench_lock *l)
{
	bench_sleep(PAUSE_NS);
	bench_sample(&pings, ping(l));
}

/* The ratio is to a PING. */
static void blpop_finish(const struct bench_store *s, struct bench_result *res)
{
	double ping_p50 = bench_median(&pings);

	bench_extra(res, ping_p50, "ping_p50");
	bench_extra(res, hot_ping_p50(s), "ping_hot_p50");
	bench_extra(res, res->ratio, "to_blpop");
	res->ratio = res->value / ping_p50;
}

const struct lock_ops floor_redis_blpop = {
	.open = open_bare,
	.close = close_bare,
	.acquire = blpop_acquire,
	.release = blpop_release,
	.beside = blpop_beside,
	.prepare = blpop_prepare,
	.finish = blpop_finish,
};
