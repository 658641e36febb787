/* SPDX-License-Identifier: Apache-2.0 */
/* The servers that a comparison can start, an entry each. */
#include "lab/clock.h"
#include "lab/ensemble.h"
#include "lab/fail.h"
#include "lab/memcached.h"
#include "lab/redis.h"
#include "lab/subject.h"
#include "lab/wall.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILL_VALUE 65536

/* Memory is bounded, so that it can be filled in a moment. */
#define REDIS_MEMORY "24mb"
#define MEMCACHED_MB 8

#define ENSEMBLE_MS 60000 /* to have a leader again */

/* ---- Redis --------------------------------------------------------------- */

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

static const struct lab_subject_kind redis = {
	.name = "redis",
	.scheme = "redis",
	.start = redis_start,
	.flush = redis_flush,
	.fill = redis_fill,
	.left = redis_left,
	.stays = 2,
	.what_stays = "for a second the lock's last token, for an hour how far "
		      "all tokens have come",
	.ping = { "PING\r\n", 6, 7 },
};

/* ---- memcached ----------------------------------------------------------- */

static int memcached_start(struct lab_subject *s)
{
	struct lab_memcached_options o = { .memory_mb = MEMCACHED_MB,
					   .threads = 2 };
	char reply[128];

	s->nodes[0] = lab_memcached_start(&o);
	if (!s->nodes[0])
		return -1;
	s->n_nodes = 1;
	if (lab_memcached_do(s->nodes[0], reply, sizeof(reply), "version") == 0)
		snprintf(s->server_text, sizeof(s->server_text),
			 "memcached %.*s", (int)strcspn(reply + 8, "\r\n"),
			 reply + 8);
	snprintf(s->settings, sizeof(s->settings),
		 "%d MB, evicts when full, 2 threads", MEMCACHED_MB);
	return 0;
}

static int memcached_flush(struct lab_subject *s)
{
	return lab_memcached_do(s->nodes[0], NULL, 0, "flush_all");
}

static int memcached_fill(struct lab_subject *s)
{
	struct lab_address to = lab_server_address(s->nodes[0]);
	int64_t deadline = lab_after_ms(10000);
	char head[96];
	char *value = calloc(1, FILL_VALUE + 2);
	int fd = value ? lab_connect(&to, deadline) : -1;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int rc = fd < 0 ? -1 : 0;

	if (value)
		memset(value, 'x', FILL_VALUE);
	for (int i = 0; i < 40 * MEMCACHED_MB && rc == 0; i++) {
		int n = snprintf(head, sizeof(head),
				 "set filler:%d 0 0 %d noreply\r\n", i,
				 FILL_VALUE);

		memcpy(value + FILL_VALUE, "\r\n", 2);
		rc = lab_send(fd, head, (size_t)n, deadline);
		if (rc == 0)
			rc = lab_send(fd, value, FILL_VALUE + 2, deadline);
	}
	/* An answer is behind all that was sent before the question. */
	if (rc == 0)
		rc = lab_send(fd, "version\r\n", 9, deadline);
	if (rc == 0 && (poll(&p, 1, lab_poll_ms(deadline)) <= 0 ||
			recv(fd, head, sizeof(head), 0) <= 0))
		rc = lab_fail("memcached says nothing");
	if (fd >= 0)
		close(fd);
	free(value);
	return rc;
}

static int64_t memcached_stat(const char *stats, const char *name)
{
	const char *at = strstr(stats, name);

	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static int64_t memcached_left(struct lab_subject *s, int64_t *bytes)
{
	char *stats = malloc(65536);
	int64_t n = -1;

	*bytes = -1;
	if (stats &&
	    lab_memcached_do(s->nodes[0], stats, 65536, "stats") == 0) {
		n = memcached_stat(stats, "STAT curr_items ");
		*bytes = memcached_stat(stats, "STAT bytes ");
	}
	free(stats);
	return n;
}

static const struct lab_subject_kind memcached = {
	.name = "memcached",
	.scheme = "memcached",
	.start = memcached_start,
	.flush = memcached_flush,
	.fill = memcached_fill,
	.left = memcached_left,
	.rounding_ms = 2000,
	.stays = 1,
	.what_stays = "the last token",
	.ping = { "mn\r\n", 4, 4 },
};

/* ---- ZooKeeper ----------------------------------------------------------- */

/* Data on the disk, but not synced: what a killed server forgets is then the
 * machine's to lose, and a lab's disk does not decide the figures. */
static const struct lab_zk_options zk_options = { .tick_ms = 100 };

/* Servers that all stand still for longer than their syncLimit lose each other,
 * and those of 3.8.0 at times agree on nothing from then on.  What is looked at
 * is how clients take the silence. */
static const struct lab_zk_options zk3_options = {
	.tick_ms = 100,
	.config = "syncLimit=200\n",
};

/* A new session of a second, in the server's protocol, and then its pings. */
static const char zk_hello[49] = {
	0, 0, 0, 45, [18] = 3, (char)232, [31] = 16
};
static const char zk_ping[12] = { 0, 0, 0, 8, -1, -1, -1, -2, 0, 0, 0, 11 };

static void zk_describe(struct lab_subject *s, const char *what)
{
	char reply[2048];
	const char *v = NULL;

	if (lab_zk_word(s->nodes[0], "srvr", reply, sizeof(reply)) == 0)
		v = strstr(reply, "version: ");
	if (v)
		snprintf(s->server_text, sizeof(s->server_text),
			 "zookeeper %.*s", (int)strcspn(v + 9, "-, \r\n"),
			 v + 9);
	snprintf(s->settings, sizeof(s->settings),
		 "%s, tickTime 100, forceSync no", what);
}

static int zk_start(struct lab_subject *s)
{
	s->nodes[0] = lab_zk_start(&zk_options);
	if (!s->nodes[0])
		return -1;
	s->n_nodes = 1;
	zk_describe(s, "standalone");
	return 0;
}

static int64_t zk_left(struct lab_subject *s, int64_t *bytes)
{
	static const char name[] = "zk_approximate_data_size";
	char reply[8192];
	const char *at = NULL;

	if (lab_zk_word(s->nodes[0], "mntr", reply, sizeof(reply)) == 0)
		at = strstr(reply, name);
	*bytes = at ? strtoll(at + sizeof(name) - 1, NULL, 10) : -1;
	return lab_zk_number(s->nodes[0], "srvr", "Node count");
}

static int zk3_start(struct lab_subject *s)
{
	struct lab_ensemble *e = lab_ensemble_start(&zk3_options);

	if (!e)
		return -1;
	s->whole = e;
	s->n_nodes = 3;
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i] = e->node[i];
	zk_describe(s, "3 servers, syncLimit 200");
	return 0;
}

static void zk3_stop(struct lab_subject *s)
{
	lab_ensemble_free(s->whole);
}

static int zk3_wait(struct lab_subject *s)
{
	return lab_ensemble_wait(s->whole, ENSEMBLE_MS);
}

static const struct lab_subject_kind zk = {
	.name = "zk",
	.scheme = "zk",
	.start = zk_start,
	.stays = 2,
	.what_stays = "containers, which the server removes by and by",
	.hello = { zk_hello, sizeof(zk_hello), 41 },
	.ping = { zk_ping, sizeof(zk_ping), 20 },
	.ask_ms = 200, /* it writes to a disk before it answers */
	.left = zk_left,
};

static const struct lab_subject_kind zk3 = {
	.name = "zk-3",
	.scheme = "zk",
	.start = zk3_start,
	.stays = 2,
	.what_stays = "containers, which the server removes by and by",
	.hello = { zk_hello, sizeof(zk_hello), 41 },
	.ping = { zk_ping, sizeof(zk_ping), 20 },
	/* It promises 7/12 of its lease, half of which must be left when it
	 * grants: 83 ms of a second, of which the network takes its part. */
	.lease_times = 2,
	.ask_ms = 200,
	.stop = zk3_stop,
	.wait = zk3_wait,
	.left = zk_left,
};

const struct lab_subject_kind *const lab_subject_kinds[] = {
	&redis, &memcached, &zk, &zk3, NULL,
};
