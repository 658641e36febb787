/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/scenarios/sut.h"
#include "lab/servers/memcached.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Memory is bounded, to fill it in a moment. */
#define MEMCACHED_MB 8
#define MEMORY ((int64_t)MEMCACHED_MB << 20)
#define FILL_VALUE 65536
#define STATS_MAX 65536

static int memcached_start(struct lab_sut *s)
{
	struct lab_memcached_options o = { .memory_mb = MEMCACHED_MB,
					   .threads = 2 };
	char reply[128];

	if (lab_sut_alone(s, lab_memcached_start(&o)) < 0)
		return -1;
	if (lab_memcached_do(s->nodes[0], reply, sizeof(reply), "version") == 0)
		lab_sut_version(s, "memcached", reply, "VERSION ", "\r\n");
	snprintf(s->settings, sizeof(s->settings),
		 "%d MB, evicts when full, 2 threads", MEMCACHED_MB);
	return 0;
}

static int memcached_flush(struct lab_sut *s)
{
	return lab_memcached_do(s->nodes[0], NULL, 0, "flush_all");
}

static int memcached_fill(struct lab_sut *s)
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
	/* The answer comes after all that was sent before the question. */
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

/* Return the number behind `name` in the answer to `line`, or -1. */
static int64_t memcached_stat(struct lab_sut *s, const char *line,
			      const char *name)
{
	char stats[STATS_MAX];
	const char *at = NULL;

	if (lab_memcached_do(s->nodes[0], stats, sizeof(stats), line) == 0)
		at = strstr(stats, name);
	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static int64_t memcached_left(struct lab_sut *s, int64_t *bytes)
{
	*bytes = memcached_stat(s, "stats", "STAT bytes ");
	return memcached_stat(s, "stats", "STAT curr_items ");
}

/* A filled server stays full even after a flush: pages stay with items of the
 * size that filled them, and other items evict each other from the rest. */
static int memcached_as_started(struct lab_sut *s)
{
	return lab_sut_has_room(
		s, memcached_stat(s, "stats slabs", "STAT total_malloced "),
		MEMORY);
}

const struct lab_sut_kind lab_sut_memcached = {
	.name = "memcached",
	.scheme = "memcached",
	.start = memcached_start,
	.as_started = memcached_as_started,
	.flush = memcached_flush,
	.fill = memcached_fill,
	.left = memcached_left,
	.what_stays = "an unused lock has no item",
	.ping = { "mn\r\n", 4, 4 },
};
