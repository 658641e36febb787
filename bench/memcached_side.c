/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/memcached_side.h"

#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <unistd.h>

#include "lab/clock.h"
#include "lab/fail.h"
#include "lab/memcached.h"

#define KEY "bare"
#define OWNER "0123456789abcdef0123456789abcdef"
#define AT_ONCE (30 * 24 * 3600 + 1) /* a date long ago */

static int connect_bare(struct memcached_side *s)
{
	struct lab_address to = lab_server_address(s->lab);
	int one = 1;

	s->bare = memcached_create(NULL);
	s->fd = lab_connect(&to, lab_after_ms(5000));
	if (!s->bare || s->fd < 0)
		return bench_fail(s->run, "cannot connect to memcached");
	fcntl(s->fd, F_SETFL, 0);
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	memcached_server_add(s->bare, LAB_LOOPBACK, (in_port_t)s->lab->port);
	memcached_behavior_set(s->bare, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1);
	memcached_behavior_set(s->bare, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
	return 0;
}

int memcached_side_open(struct memcached_side *s, struct bench_run *r)
{
	static const char *const protocols[] = { "text", "meta" };
	int rc;

	*s = (struct memcached_side){ .run = r, .fd = -1 };
	s->lab = lab_memcached_start(NULL);
	if (!s->lab)
		return bench_skip(r, "%s", lab_errmsg());
	for (int i = 0; i < 2; i++)
		snprintf(s->uri[i], sizeof(s->uri[i]),
			 "memcached://%s:%d/?protocol=%s", LAB_LOOPBACK,
			 s->lab->port, protocols[i]);
	rc = connect_bare(s);
	if (rc != 0)
		memcached_side_close(s);
	return rc;
}

void memcached_side_close(struct memcached_side *s)
{
	if (s->bare)
		memcached_free(s->bare);
	if (s->fd >= 0)
		close(s->fd);
	lab_server_free(s->lab);
}

static int bare_gets(memcached_st *m, uint64_t *cas)
{
	static const char *const keys[] = { KEY };
	static const size_t lens[] = { sizeof(KEY) - 1 };
	memcached_return_t rc = memcached_mget(m, keys, lens, 1);
	memcached_result_st result, *got;
	int ours = 0;

	memcached_result_create(m, &result);
	while ((got = memcached_fetch_result(m, &result, &rc))) {
		*cas = memcached_result_cas(got);
		ours = strcmp(memcached_result_value(got), OWNER) == 0;
	}
	memcached_result_free(&result);
	return ours ? 0 : -1;
}

int memcached_bare_text(void *side)
{
	struct memcached_side *s = side;
	memcached_return_t rc;
	uint64_t cas = 0;

	rc = memcached_add(s->bare, KEY, sizeof(KEY) - 1, OWNER,
			   sizeof(OWNER) - 1, 31, 0);
	if (rc != MEMCACHED_SUCCESS)
		return bench_fail(s->run, "bare add: %s",
				  memcached_strerror(s->bare, rc));
	if (bare_gets(s->bare, &cas) != 0 || cas == 0)
		return bench_fail(s->run, "bare gets: not what was added");
	rc = memcached_cas(s->bare, KEY, sizeof(KEY) - 1, "", 0, AT_ONCE, 0,
			   cas);
	if (rc != MEMCACHED_SUCCESS)
		return bench_fail(s->run, "bare cas: %s",
				  memcached_strerror(s->bare, rc));
	return 0;
}

/* One line, asked and answered. */
static int talk(struct memcached_side *s, const char *request, char *reply,
		size_t size)
{
	ssize_t got;

	if (send(s->fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return -1;
	got = recv(s->fd, reply, size - 1, 0);
	if (got < 0)
		return -1;
	reply[got] = '\0';
	return strncmp(reply, "HD", 2) == 0 ? 0 : -1;
}

int memcached_bare_meta(void *side)
{
	struct memcached_side *s = side;
	char request[64], reply[64];

	if (talk(s, "ms bare 32 ME T31 c\r\n" OWNER "\r\n", reply,
		 sizeof(reply)) != 0)
		return bench_fail(s->run, "bare ms");
	snprintf(request, sizeof(request), "md bare C%llu\r\n",
		 strtoull(reply + 4, NULL, 10));
	if (talk(s, request, reply, sizeof(reply)) != 0)
		return bench_fail(s->run, "bare md");
	return 0;
}

double memcached_adds(struct memcached_side *s)
{
	char text[16384];
	const char *at;

	if (lab_memcached_do(s->lab, text, sizeof(text), "stats") != 0)
		return bench_fail(s->run, "%s", lab_errmsg());
	at = strstr(text, "STAT cmd_set ");
	return at ? strtod(at + 13, NULL) : 0;
}
