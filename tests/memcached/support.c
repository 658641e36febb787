/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dlock_client *by_port(const struct scene *s, int port, const char *query)
{
	char uri[256];

	/* A busy machine needs time to answer. */
	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?protocol=%s%s%s%s", port,
		 s->protocol, strstr(query, "ask=") ? "" : "&ask=500ms",
		 query[0] ? "&" : "", query);
	return client_of_case(uri, NULL);
}

dlock_client *by_proxy(const struct scene *s, const char *query)
{
	return by_port(s, lab_proxy_port(s->proxy), query);
}

dlock_client *direct(const struct scene *s, const char *query)
{
	return by_port(s, s->server->port, query);
}

struct scene scene_new(const char *protocol,
		       const struct lab_memcached_options *options)
{
	struct scene s = { .protocol = protocol };

	s.server = server_of_case(lab_memcached_start(options));
	s.proxy = proxy_of_case(s.server);
	end_now(direct(&s, ""));
	return s;
}

const char *scene_do(const struct scene *s, const char *format, const char *key)
{
	static _Thread_local char reply[65536];
	char command[1024];
	const char *at = key ? strstr(format, "%s") : NULL;

	if (at)
		snprintf(command, sizeof(command), "%.*s%s%s",
			 (int)(at - format), format, key_of(s, key), at + 2);
	else
		snprintf(command, sizeof(command), "%s", format);
	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply), command),
		  ==, 0);
	return reply;
}

void scene_put(const struct scene *s, const char *verb, const char *key,
	       int64_t life_s, const char *text)
{
	char format[640];

	snprintf(format, sizeof(format), "%s %%s 0 %" PRId64 " %zu\r\n%s", verb,
		 life_s, strlen(text), text);
	CHECK_TEXT(scene_do(s, format, key), "STORED");
}

uint64_t stat_of(const struct scene *s, const char *name)
{
	const char *at = strstr(scene_do(s, "stats", NULL), name);

	CHECK(at);
	return strtoull(at + strlen(name), NULL, 10);
}

/* Return the server's count of seconds, which stops with the server. */
static uint64_t uptime_of(const struct scene *s)
{
	return stat_of(s, "STAT uptime ");
}

const char *key_of(const struct scene *s, const char *key)
{
	static char out[200];
	uint64_t time_s, uptime_s;

	/* The clock may tick in between. */
	do {
		uptime_s = uptime_of(s);
		time_s = stat_of(s, "STAT time ");
	} while (uptime_s != uptime_of(s));
	snprintf(out, sizeof(out), "dlock.%" PRIu64 ".%s", time_s - uptime_s,
		 key);
	return out;
}

/* Return the end that a mark's text says, and the text before. */
static uint64_t read_mark(const struct scene *s, const char *key,
			  char words[512])
{
	const char *text = strstr(scene_do(s, "get %s", key), "dlock1 ");
	char *end;

	CHECK(text);
	snprintf(words, 512, "%.*s", (int)strcspn(text, "\r"), text);
	end = strrchr(words, ' ');
	*end = '\0';
	return strtoull(end + 1, NULL, 10);
}

int64_t mark_left_s(const struct scene *s, const char *key)
{
	char words[512];
	int64_t says = (int64_t)read_mark(s, key, words) -
		       (int64_t)uptime_of(s);
	long long has = -1;

	CHECK_INT(sscanf(scene_do(s, "mg %s t", key), "HD t%lld", &has), ==, 1);
	return says < has ? says : has;
}

void mark_ends_in(const struct scene *s, const char *key, int64_t left_s)
{
	char words[512], text[560];

	(void)read_mark(s, key, words);
	snprintf(text, sizeof(text), "%s %" PRIu64, words,
		 uptime_of(s) + (uint64_t)left_s);
	scene_put(s, "set", key, left_s, text);
}

int64_t ask(dlock_lock *l, int64_t timeout_ms, int rc)
{
	dlock_hold *h = NULL;
	int64_t begun = now_ms();

	CHECK_RC(dlock_acquire(l, timeout_ms, &h), rc);
	return now_ms() - begun;
}

void found_lost(const dlock_hold *h, dlock_client *c, int64_t since_ms)
{
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - since_ms, <=,
		  dlock_ttl_ms(c) / 3 + 100 + slack_ms());
}
