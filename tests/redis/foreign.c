/* SPDX-License-Identifier: Apache-2.0 */
#include "foreign.h"

#include <hiredis/hiredis.h>

#include "support/check.h"

struct redisContext *foreign_client(int port)
{
	struct redisContext *r = redisConnect("127.0.0.1", port);

	CHECK(r && !r->err);
	return r;
}

void foreign_free(struct redisContext *r)
{
	redisFree(r);
}

int foreign_take(struct redisContext *r, const char *value, int px_ms)
{
	redisReply *reply = redisCommand(r, "SET x %s NX PX %d", value, px_ms);
	int got;

	CHECK(reply && reply->type != REDIS_REPLY_ERROR);
	got = reply->type == REDIS_REPLY_STATUS;
	freeReplyObject(reply);
	return got;
}

int foreign_give(struct redisContext *r, const char *value)
{
	redisReply *reply = redisCommand(
		r, "EVAL %s 1 x %s",
		"if redis.call('get', KEYS[1]) == ARGV[1] then "
		"return redis.call('del', KEYS[1]) else return 0 end",
		value);
	int had;

	CHECK(reply && reply->type == REDIS_REPLY_INTEGER);
	had = (int)reply->integer;
	freeReplyObject(reply);
	return had;
}
