/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/scenarios/sut.h"
#include "lab/servers/redis.h"
#include "lab/servers/wall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Memory is bounded, to fill it in a moment. */
#define REDIS_MEMORY "24mb"
#define REDIS_MAXMEMORY (INT64_C(24) << 20)
#define FILL_VALUE 65536

static int redis_start(struct lab_sut *s)
{
	struct lab_redis_options o = { .maxmemory = REDIS_MEMORY,
				       .policy = "noeviction",
				       .wall = lab_wall_shim() != NULL };
	char info[8192];

	if (lab_sut_alone(s, lab_redis_start(&o)) < 0)
		return -1;
	s->wall = o.wall;
	if (lab_redis_do(s->nodes[0], info, sizeof(info), "INFO server") == 0)
		lab_sut_version(s, "redis", info, "redis_version:", "\r\n");
	snprintf(s->settings, sizeof(s->settings),
		 "appendonly no, save none, maxmemory " REDIS_MEMORY
		 " noeviction");
	return 0;
}

static int redis_flush(struct lab_sut *s)
{
	return lab_redis_do(s->nodes[0], NULL, 0, "FLUSHALL");
}

/* Fill the server until the server refuses. */
static int redis_fill(struct lab_sut *s)
{
	for (int i = 0; i < 4096; i++)
		if (lab_redis_do(s->nodes[0], NULL, 0,
				 "SETRANGE filler:%d %d x", i, FILL_VALUE) < 0)
			return 0;
	return lab_fail("redis takes more than its maxmemory");
}

static int redis_as_started(struct lab_sut *s)
{
	int64_t used = lab_redis_info(s->nodes[0], "used_memory");
	int64_t most = lab_redis_info(s->nodes[0], "maxmemory");

	if (most >= 0 && most != REDIS_MAXMEMORY)
		return lab_fail("maxmemory of redis is %" PRId64, most);
	return lab_sut_has_room(s, used, most);
}

#define REDIS_BYTES                                                            \
	"local n = 0 for _, key in ipairs(redis.call('keys', '*')) do "        \
	"n = n + redis.call('memory', 'usage', key) end return n"

static int64_t redis_left(struct lab_sut *s, int64_t *bytes)
{
	char reply[32];

	*bytes = -1;
	if (lab_redis_do(s->nodes[0], reply, sizeof(reply), "EVAL \"%s\" 0",
			 REDIS_BYTES) == 0)
		*bytes = strtoll(reply, NULL, 10);
	if (lab_redis_do(s->nodes[0], reply, sizeof(reply), "DBSIZE") < 0)
		return -1;
	return strtoll(reply, NULL, 10);
}

const struct lab_sut_kind lab_sut_redis = {
	.name = "redis",
	.scheme = "redis",
	.start = redis_start,
	.as_started = redis_as_started,
	.flush = redis_flush,
	.fill = redis_fill,
	.left = redis_left,
	.stays = 2,
	.what_stays = "for a second the lock's last token, for an hour how far "
		      "all tokens have come",
	.ping = { "PING\r\n", 6, 7 },
};
