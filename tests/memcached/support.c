/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"

enum { MOST = 32 };

/* What scene_end() is to clean up. */
static dlock_client *clients[MOST];
static dlock_lock *locks[MOST];
static int n_clients, n_locks;

dlock_client *by_port(const struct scene *s, int port, const char *query)
{
	char uri[256];
	dlock_client *c = NULL;

	CHECK_INT(n_clients, <, MOST);
	/* A busy machine needs time to answer. */
	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?protocol=%s%s%s%s", port,
		 s->protocol, strstr(query, "ask=") ? "" : "&ask=500ms",
		 query[0] ? "&" : "", query);
	CHECK_OK(dlock_open(&c, uri, NULL));
	clients[n_clients++] = c;
	return c;
}

dlock_client *by_proxy(const struct scene *s, const char *query)
{
	return by_port(s, lab_proxy_port(s->proxy), query);
}

dlock_client *direct(const struct scene *s, const char *query)
{
	return by_port(s, s->server->port, query);
}

void grown_up(const struct scene *s)
{
	dlock_close(direct(s, ""));
	n_clients--;
}

struct scene scene_new(const char *protocol,
		       const struct lab_memcached_options *options)
{
	struct scene s = { .protocol = protocol };
	struct lab_proxy_options to = { 0 };

	s.server = lab_memcached_start(options);
	if (!s.server)
		FAIL("%s", lab_errmsg());
	to.to = lab_server_address(s.server);
	s.proxy = lab_proxy_new(&to);
	if (!s.proxy)
		FAIL("%s", lab_errmsg());
	grown_up(&s);
	return s;
}

void scene_end(struct scene *s)
{
	while (n_locks > 0)
		dlock_lock_free(locks[--n_locks]);
	while (n_clients > 0)
		dlock_close(clients[--n_clients]);
	lab_proxy_free(s->proxy);
	lab_server_free(s->server);
}

uint64_t stat_of(const struct scene *s, const char *name)
{
	static char reply[65536];
	const char *at;

	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply), "stats"),
		  ==, 0);
	at = strstr(reply, name);
	CHECK(at);
	return strtoull(at + strlen(name), NULL, 10);
}

uint64_t gets_of_a_pair(const struct scene *s, dlock_lock *l)
{
	uint64_t before = stat_of(s, "STAT cmd_get ");

	give(take(l));
	return stat_of(s, "STAT cmd_get ") - before;
}

uint64_t uptime_of(const struct scene *s)
{
	return stat_of(s, "STAT uptime ");
}

const char *key_of(const struct scene *s, const char *key)
{
	static char out[200];
	uint64_t time_s, uptime_s;

	/* It may tick in between. */
	do {
		uptime_s = uptime_of(s);
		time_s = stat_of(s, "STAT time ");
	} while (uptime_s != uptime_of(s));
	snprintf(out, sizeof(out), "dlock.%" PRIu64 ".%s", time_s - uptime_s,
		 key);
	return out;
}

const char *with_key(const struct scene *s, const char *format, const char *key)
{
	static char out[1024];
	const char *at = strstr(format, "%s");

	CHECK(at);
	snprintf(out, sizeof(out), "%.*s%s%s", (int)(at - format), format,
		 key_of(s, key), at + 2);
	return out;
}

/* What a mark says: all but the end, which is returned. */
static uint64_t read_mark(const struct scene *s, const char *key,
			  char words[512])
{
	char reply[512], *text, *end;

	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply),
				   with_key(s, "get %s", key)),
		  ==, 0);
	text = strstr(reply, "dlock1 ");
	CHECK(text);
	text[strcspn(text, "\r")] = '\0';
	end = strrchr(text, ' ');
	*end = '\0';
	snprintf(words, 512, "%s", text);
	return strtoull(end + 1, NULL, 10);
}

int64_t mark_left_s(const struct scene *s, const char *key)
{
	char words[512], reply[64];
	int64_t says = (int64_t)read_mark(s, key, words) -
		       (int64_t)uptime_of(s);
	long long has = -1;

	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply),
				   with_key(s, "mg %s t", key)),
		  ==, 0);
	CHECK_INT(sscanf(reply, "HD t%lld", &has), ==, 1);
	return says < has ? says : has;
}

void mark_ends_in(const struct scene *s, const char *key, int64_t left_s)
{
	char words[512], text[640], request[1024], reply[64];

	(void)read_mark(s, key, words);
	snprintf(text, sizeof(text), "%s %" PRIu64, words,
		 uptime_of(s) + (uint64_t)left_s);
	snprintf(request, sizeof(request), "set %s 0 %" PRId64 " %zu\r\n%s",
		 key_of(s, key), left_s, strlen(text), text);
	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply), request),
		  ==, 0);
	CHECK_TEXT(reply, "STORED");
}

dlock_lock *mutex(dlock_client *c, const char *name)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_mutex_new(&l, c, name));
	CHECK_INT(n_locks, <, MOST);
	locks[n_locks++] = l;
	return l;
}

int64_t ask(dlock_lock *l, int64_t timeout_ms, int rc)
{
	dlock_hold *h = NULL;
	int64_t begun = now_ms();

	CHECK_RC(dlock_acquire(l, timeout_ms, &h), rc);
	return now_ms() - begun;
}

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;
	dlock_hold *h = NULL;

	w->rc = dlock_acquire(w->lock, w->timeout_ms, &h);
	if (w->rc == DLOCK_OK)
		give(h);
	return NULL;
}

void waiter_start(struct waiter *w, dlock_lock *l, int64_t timeout_ms)
{
	w->lock = l;
	w->timeout_ms = timeout_ms;
	CHECK_INT(pthread_create(&w->thread, NULL, waiter_main, w), ==, 0);
}

int waiter_join(struct waiter *w)
{
	CHECK_INT(pthread_join(w->thread, NULL), ==, 0);
	return w->rc;
}

uint64_t attempts_of(dlock_client *c)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	CHECK_OK(dlock_get_stats(c, &stats));
	return stats.attempts;
}

void found_lost(const dlock_hold *h, dlock_client *c, int64_t since_ms)
{
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - since_ms, <=,
		  dlock_ttl_ms(c) / 3 + 100 + slack_ms());
}
