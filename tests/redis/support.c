/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fail.h"

enum { TEXT = 65536 };

/* ---- Servers ------------------------------------------------------------- */

struct lab_server *server_start(const struct lab_redis_options *options)
{
	struct lab_server *s = lab_redis_start(options);

	if (!s)
		FAIL("%s", lab_errmsg());
	return s;
}

struct lab_proxy *proxy_start(const struct lab_server *s)
{
	struct lab_proxy_options o = { .to = lab_server_address(s) };
	struct lab_proxy *p = lab_proxy_new(&o);

	if (!p)
		FAIL("%s", lab_errmsg());
	return p;
}

const char *server_do(struct lab_server *s, const char *format, ...)
{
	static _Thread_local char reply[TEXT];
	char command[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	if (lab_redis_do(s, reply, sizeof(reply), "%s", command) < 0)
		FAIL("%s: %s", command, lab_errmsg());
	return reply;
}

uint64_t calls(struct lab_server *s, const char *command)
{
	const char *stats = server_do(s, "INFO commandstats");
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "cmdstat_%s:calls=", command);
	at = strstr(stats, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

uint64_t scripts_run(struct lab_server *s)
{
	return calls(s, "evalsha") + calls(s, "eval");
}

int connections(struct lab_server *s)
{
	const char *at = server_do(s, "CLIENT LIST");
	int n = 0;

	for (at = strstr(at, "id="); at; at = strstr(at + 1, "\nid="))
		n++;
	for (at = strstr(server_do(s, "CLIENT LIST"), "user=lab "); at;
	     at = strstr(at + 1, "user=lab "))
		n--;
	return n;
}

const char *only_key(struct lab_server *s)
{
	static char key[256];
	const char *reply = server_do(s, "KEYS *{*");
	const char *at = strstr(reply, "*1\r\n$");

	if (!at || !(at = strchr(at + 5, '\n')))
		FAIL("not one key: %s", reply);
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(at + 1, "\r"), at + 1);
	return key;
}

void server_end(struct lab_server *s)
{
	int64_t end = now_ms() + patience_ms();

	/* But for prefix:clock, which stays. */
	while (strcmp(server_do(s, "KEYS *{*"), "*0\r\n") != 0) {
		if (now_ms() > end)
			FAIL("left in the server: %s", server_do(s, "KEYS *"));
		nap_ms(5);
	}
	while (connections(s) != 0) {
		if (now_ms() > end)
			FAIL("left connected: %s", server_do(s, "CLIENT LIST"));
		nap_ms(5);
	}
	lab_server_free(s);
}

/* ---- Clients ------------------------------------------------------------- */

static void on_event(dlock_hold *h, enum dlock_event event, const char *why,
		     void *arg)
{
	struct diary *d = arg;

	(void)h;
	(void)why;
	if (event == DLOCK_AT_RISK)
		d->risks++;
	else if (event == DLOCK_SAFE)
		d->safes++;
	else if (d->losses++ == 0)
		d->lost_at = now_ms();
}

static void on_log(int level, const char *text, void *arg)
{
	struct diary *d = arg;
	size_t len;

	pthread_mutex_lock(&d->mu);
	len = strlen(d->log);
	snprintf(d->log + len, sizeof(d->log) - len, "%d %s\n", level, text);
	pthread_mutex_unlock(&d->mu);
}

dlock_options options_of(struct diary *d)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	if (d) {
		o.on_event = on_event;
		o.on_log = on_log;
		o.arg = d;
	}
	return o;
}

int diary_says(struct diary *d, const char *part)
{
	int says;

	pthread_mutex_lock(&d->mu);
	says = strstr(d->log, part) != NULL;
	pthread_mutex_unlock(&d->mu);
	return says;
}

const char *uri_of(int port, const char *query)
{
	static _Thread_local char uri[512];

	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/%s%s", port,
		 query ? "?" : "", query ? query : "");
	return uri;
}

dlock_client *client_of(int port, const char *query, struct diary *d)
{
	dlock_options o = options_of(d);
	dlock_client *c = NULL;
	char all[384];

	snprintf(all, sizeof(all), "%s%s%s", query ? query : "",
		 query ? "&" : "",
		 query && strstr(query, "ask=") ? "" : "ask=2s");
	if (*all && all[strlen(all) - 1] == '&')
		all[strlen(all) - 1] = '\0';
	CHECK_OK(dlock_open(&c, uri_of(port, all), &o));
	return c;
}

void refused(const char *uri, int code, const char *part)
{
	dlock_client *c = NULL;

	CHECK_RC(dlock_open(&c, uri, NULL), code);
	CHECK(c == NULL);
	CHECK_TEXT(dlock_errmsg(), part);
}

dlock_hold *take(dlock_lock *l, int64_t timeout_ms)
{
	dlock_hold *h = NULL;

	CHECK_OK(dlock_acquire(l, timeout_ms, &h));
	CHECK(dlock_token(h) > 0);
	return h;
}

dlock_hold *take_shared(dlock_lock *l, int64_t timeout_ms)
{
	dlock_hold *h = NULL;

	CHECK_OK(dlock_acquire_shared(l, timeout_ms, &h));
	CHECK(dlock_token(h) > 0);
	return h;
}

void give(dlock_hold *h)
{
	CHECK_OK(dlock_release(h));
}

void warm_up(dlock_client *c)
{
	dlock_lock *l = mutex(c, "warm-up");

	give(take(l, patience_ms()));
	dlock_free(l);
}

struct dlock_stats stats_of(dlock_client *c)
{
	struct dlock_stats s = { .size = sizeof(s) };

	CHECK_OK(dlock_get_stats(c, &s));
	return s;
}

void end(dlock_client *c, dlock_lock *l)
{
	dlock_free(l);
	dlock_close(c);
}

struct lab_server *two_start(const char *query, struct diary *d,
			     dlock_client **first, dlock_client **second)
{
	struct lab_server *s = server_start(NULL);

	*first = client_of(s->port, query, d);
	*second = client_of(s->port, query, NULL);
	warm_up(*first);
	warm_up(*second);
	return s;
}

void two_end(struct lab_server *s, dlock_client *first, dlock_client *second)
{
	dlock_close(first);
	dlock_close(second);
	server_end(s);
}

/* ---- Threads ------------------------------------------------------------- */

static void *run_taker(void *arg)
{
	struct taker *t = arg;

	t->rc = t->shared ?
			dlock_acquire_shared(t->lock, t->timeout_ms, &t->hold) :
			dlock_acquire(t->lock, t->timeout_ms, &t->hold);
	t->got_at = now_ms();
	if (t->rc == DLOCK_OK) {
		t->remaining_ms = dlock_remaining_ms(t->hold);
		t->token = dlock_token(t->hold);
	}
	t->done = 1;
	if (t->rc != DLOCK_OK)
		return NULL;
	while (!t->leave)
		nap_ms(1);
	t->release_rc = dlock_release(t->hold);
	return NULL;
}

void taker_start(struct taker *t, dlock_client *c, dlock_lock *l,
		 int64_t timeout_ms, int parked)
{
	uint64_t before = stats_of(c).waiters;
	uint64_t asked = stats_of(c).attempts;

	t->lock = l;
	t->timeout_ms = timeout_ms;
	CHECK(pthread_create(&t->thread, NULL, run_taker, t) == 0);
	if (parked)
		EVENTUALLY(t->done || (stats_of(c).waiters > before &&
				       stats_of(c).attempts > asked));
}

void let_go(struct taker *t)
{
	t->leave = 1;
	CHECK(pthread_join(t->thread, NULL) == 0);
}
