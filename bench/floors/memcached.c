/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached and the floors: libmemcached for the text protocol, and a
 * bare socket for the meta protocol. */
#include "bench/store.h"

#include <fcntl.h>
#include <libmemcached/memcached.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/memcached.h"

#define KEY "bare"
#define OWNER "0123456789abcdef0123456789abcdef"
#define EXPIRED (30 * 24 * 3600 + 1) /* taken for a date long ago */

static const struct {
	const char *name, *query, *floor;
} protocols[] = {
	[MEMCACHED_TEXT] = { "text", "?protocol=text", "libmemcached" },
	[MEMCACHED_META] = { "meta", "?protocol=meta", "ms and md" },
};

static void store_open(struct bench_store *s)
{
	store_serve(s, lab_memcached_start(NULL), protocols[s->variant].query);
}

/* Count attempts; each is a request to store an item. */
static struct store_load store_load(const struct bench_store *s)
{
	char text[16384];
	const char *at;

	if (lab_memcached_do(s->server, text, sizeof(text), "stats") != 0)
		bench_fail("%s", lab_errmsg());
	at = strstr(text, "STAT cmd_set ");
	return (struct store_load){ .requests = at ? strtod(at + 13, NULL) :
						     0 };
}

const struct store_desc store_memcached = {
	.name = "memcached",
	.open = store_open,
	.load = store_load,
};

/* ---- Floor --------------------------------------------------------------- */

static void open_text(struct bench_lock *l, const struct lab_server *server)
{
	memcached_st *m = memcached_create(NULL);

	if (!m)
		bench_fail("out of memory");
	memcached_server_add(m, LAB_LOOPBACK, (in_port_t)server->port);
	memcached_behavior_set(m, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1);
	memcached_behavior_set(m, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
	l->conn = m;
}

static void open_meta(struct bench_lock *l, const struct lab_server *server)
{
	struct lab_address to = lab_server_address(server);
	int one = 1;

	l->fd = lab_connect(&to, lab_after_ms(5000));
	if (l->fd < 0)
		bench_fail("%s", lab_errmsg());
	fcntl(l->fd, F_SETFL, 0);
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void open_bare(struct bench_lock *l)
{
	if (l->store->variant == MEMCACHED_META)
		open_meta(l, l->store->server);
	else
		open_text(l, l->store->server);
}

static void close_bare(struct bench_lock *l)
{
	if (l->conn)
		memcached_free(l->conn);
	else
		close(l->fd);
}

static uint64_t text_gets(memcached_st *m)
{
	static const char *const keys[] = { KEY };
	static const size_t lens[] = { sizeof(KEY) - 1 };
	memcached_return_t rc = memcached_mget(m, keys, lens, 1);
	memcached_result_st result, *got;
	uint64_t cas = 0;

	memcached_result_create(m, &result);
	while ((got = memcached_fetch_result(m, &result, &rc)))
		if (strcmp(memcached_result_value(got), OWNER) == 0)
			cas = memcached_result_cas(got);
	memcached_result_free(&result);
	return cas;
}

/* add; gets; cas to an item that has expired. */
static void text_pair(memcached_st *m)
{
	memcached_return_t rc;
	uint64_t cas;

	rc = memcached_add(m, KEY, sizeof(KEY) - 1, OWNER, sizeof(OWNER) - 1,
			   31, 0);
	if (rc != MEMCACHED_SUCCESS)
		bench_fail("bare add: %s", memcached_strerror(m, rc));
	cas = text_gets(m);
	if (cas == 0)
		bench_fail("bare gets: not what was added");
	rc = memcached_cas(m, KEY, sizeof(KEY) - 1, "", 0, EXPIRED, 0, cas);
	if (rc != MEMCACHED_SUCCESS)
		bench_fail("bare cas: %s", memcached_strerror(m, rc));
}

/* Send a request, and read the answer of one line. */
static void meta_request(int fd, const char *request, char reply[64])
{
	ssize_t got = -1;

	if (send(fd, request, strlen(request), MSG_NOSIGNAL) >= 0)
		got = recv(fd, reply, 63, 0);
	if (got < 2 || memcmp(reply, "HD", 2) != 0)
		bench_fail("bare %.2s", request);
	reply[got] = '\0';
}

/* ms in mode add; md with the item's cas. */
static void meta_pair(int fd)
{
	char request[64], reply[64];

	meta_request(fd, "ms " KEY " 32 ME T31 c\r\n" OWNER "\r\n", reply);
	snprintf(request, sizeof(request), "md " KEY " C%llu\r\n",
		 strtoull(reply + 4, NULL, 10));
	meta_request(fd, request, reply);
}

static void bare_pair(void *lock)
{
	const struct bench_lock *l = lock;

	if (l->conn)
		text_pair(l->conn);
	else
		meta_pair(l->fd);
}

static void report_protocol(const struct bench_store *s,
			    struct bench_result *res)
{
	bench_text(res, "protocol", protocols[s->variant].name);
	bench_text(res, "floor_is", protocols[s->variant].floor);
}

const struct lock_ops floor_memcached = {
	.open = open_bare,
	.close = close_bare,
	.pair = bare_pair,
	.finish = report_protocol,
};
