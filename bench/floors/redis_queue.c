/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bare queue on Redis with direct grant, with hiredis: a release gives the
 * lock to the first of a list, and publishes the grant.  The queue has no
 * token, and takes no care of dead waiters.
 */
#include "bench/store.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/servers/redis.h"

#define ASK                                                                    \
	"if redis.call('SET',KEYS[1],ARGV[1],'NX','PX','30000') then "         \
	"return 1 end redis.call('RPUSH',KEYS[2],ARGV[1]) return 0"
#define FREE                                                                   \
	"if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end "             \
	"local next=redis.call('LPOP',KEYS[2]) if next then "                  \
	"redis.call('SET',KEYS[1],next,'PX','30000') "                         \
	"redis.call('PUBLISH',next,'') else redis.call('DEL',KEYS[1]) end "    \
	"return 1"

struct queuer {
	redisContext *asks, *hears;
	char ask[128], release[128];
};

/* An integer, or 0. */
static long long checked(const redisContext *c, void *reply)
{
	redisReply *r = reply;
	long long n;

	if (!r || r->type == REDIS_REPLY_ERROR)
		bench_fail("bare hiredis: %s", r ? r->str : c->errstr);
	n = r->type == REDIS_REPLY_INTEGER ? r->integer : 0;
	freeReplyObject(r);
	return n;
}

static redisContext *connect_to(const struct bench_store *s)
{
	redisContext *c = redisConnect(LAB_LOOPBACK, s->server->port);

	if (!c || c->err)
		bench_fail("bare hiredis: %s", c ? c->errstr : "out of memory");
	return c;
}

/* Write the command that calls the script for `owner`. */
static void prepare_call(redisContext *c, const char *script, const char *owner,
			 char out[128])
{
	redisReply *r = redisCommand(c, "SCRIPT LOAD %s", script);

	if (!r || r->type != REDIS_REPLY_STRING)
		bench_fail("bare hiredis: %s", r ? r->str : c->errstr);
	snprintf(out, 128, "EVALSHA %s 2 {q}lock {q}line %s", r->str, owner);
	freeReplyObject(r);
}

static void queue_open(struct bench_lock *l)
{
	struct queuer *q = bench_alloc(1, sizeof(*q));
	char owner[64];

	snprintf(owner, sizeof(owner), "%ld.%p", (long)getpid(), (void *)q);
	q->asks = connect_to(l->store);
	q->hears = connect_to(l->store);
	prepare_call(q->asks, ASK, owner, q->ask);
	prepare_call(q->asks, FREE, owner, q->release);
	checked(q->hears, redisCommand(q->hears, "SUBSCRIBE %s", owner));
	l->conn = q;
}

static void queue_close(struct bench_lock *l)
{
	struct queuer *q = l->conn;

	redisFree(q->asks);
	redisFree(q->hears);
	free(q);
}

static void queue_acquire(struct bench_lock *l)
{
	const struct queuer *q = l->conn;
	void *message = NULL;

	if (checked(q->asks, redisCommand(q->asks, q->ask)) == 1)
		return;
	if (redisGetReply(q->hears, &message) != REDIS_OK)
		message = NULL;
	checked(q->hears, message);
}

static void queue_release(struct bench_lock *l)
{
	const struct queuer *q = l->conn;

	if (checked(q->asks, redisCommand(q->asks, q->release)) != 1)
		bench_fail("the bare lock was gone");
}

const struct lock_ops floor_redis_queue = {
	.open = queue_open,
	.close = queue_close,
	.acquire = queue_acquire,
	.release = queue_release,
};
