/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/fail.h"
#include "lab/redis.h"
#include "lab/subject.h"
#include "lab/wall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory is bounded, so that it can be filled in a moment. */
#define REDIS_MEMORY "24mb"
#define REDIS_MAXMEMORY (INT64_C(24) << 20)
#define FILL_VALUE 65536

static int redis_start(struct lab_subject *s)
{
	struct lab_redis_options o = { .maxmemory = REDIS_MEMORY,
				       .policy = "noeviction",
				       .wall = lab_wall_shim() != NULL };
	char info[8192];
	const char *v;

	s->nodes[0] = lab_redis_start(&o);
	if (!s->nodes[0])
		return -1;
	s->n_nodes = 1;
	s->wall = o.wall;
	if (lab_redis_do(s->nodes[0], info, sizeof(info), "INFO server") == 0) {
		v = strstr(info, "redis_version:");
		if (v)
			snprintf(s->server_text, sizeof(s->server_text),
				 "redis %.*s", (int)strcspn(v + 14, "\r\n"),
				 v + 14);
	}
	snprintf(s->settings, sizeof(s->settings),
		 "appendonly no, save none, maxmemory " REDIS_MEMORY
		 " noeviction");
	return 0;
}

static int redis_flush(struct lab_subject *s)
{
	return lab_redis_do(s->nodes[0], NULL, 0, "FLUSHALL");
}

/* The end is an error: that is what is wanted. */
static int redis_fill(struct lab_subject *s)
{
	for (int i = 0; i < 4096; i++)
		if (lab_redis_do(s->nodes[0], NULL, 0,
				 "SETRANGE filler:%d %d x", i, FILL_VALUE) < 0)
			return 0;
	return lab_fail("redis takes more than its maxmemory");
}

/* A trial takes a fraction of the memory; filled, it is not far from full. */
static int redis_settled(struct lab_subject *s)
{
	int64_t used = lab_redis_info(s->nodes[0], "used_memory");
	int64_t most = lab_redis_info(s->nodes[0], "maxmemory");

	if (used < 0 || most < 0)
		return lab_fail("redis does not say how full it is");
	if (most != REDIS_MAXMEMORY)
		return lab_fail("maxmemory of redis is %" PRId64, most);
	if (used > REDIS_MAXMEMORY / 2)
		return lab_fail("redis is full: %" PRId64 " bytes", used);
	return 0;
}

#define REDIS_BYTES                                                            \
	"local n = 0 for _, key in ipairs(redis.call('keys', '*')) do "        \
	"n = n + redis.call('memory', 'usage', key) end return n"

static int64_t redis_left(struct lab_subject *s, int64_t *bytes)
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

const struct lab_subject_kind lab_subject_redis = {
	.name = "redis",
	.scheme = "redis",
	.start = redis_start,
	.settled = redis_settled,
	.flush = redis_flush,
	.fill = redis_fill,
	.left = redis_left,
	.stays = 2,
	.what_stays = "for a second the lock's last token, for an hour how far "
		      "all tokens have come",
	.ping = { "PING\r\n", 6, 7 },
};
