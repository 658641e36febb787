/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"

enum { TEXT = 65536 };

/* ---- Servers ------------------------------------------------------------- */

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

static void server_end(void *arg)
{
	struct lab_server *s = arg;
	int64_t end = now_ms() + patience_ms();

	/* prefix:clock stays. */
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

struct lab_server *server_start(const struct lab_redis_options *options)
{
	struct lab_server *s = lab_redis_start(options);

	if (!s)
		FAIL("%s", lab_errmsg());
	at_end(server_end, s);
	return s;
}

struct lab_server *replica_start(const struct lab_server *master,
				 const char *config)
{
	const struct lab_redis_options o = { .replica_of = master,
					     .config = config };
	struct lab_server *s = server_start(&o);

	if (lab_redis_wait_synced(s, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	return s;
}

void server_abandon(struct lab_server *s)
{
	not_at_end(s);
	lab_server_free(s);
}

static void proxy_heal(void *p)
{
	lab_proxy_heal(p);
}

void healed_at_end(struct lab_proxy *p)
{
	at_end(proxy_heal, p);
}

/* ---- Clients ------------------------------------------------------------- */

const char *uri_of(int port, const char *query)
{
	static _Thread_local char uri[512];

	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/%s%s", port,
		 query ? "?" : "", query ? query : "");
	return uri;
}

dlock_client *client_of(int port, const char *query, struct diary *d)
{
	dlock_options o = diary_options(d);
	char all[384];

	snprintf(all, sizeof(all), "%s%s%s", query ? query : "",
		 query ? "&" : "",
		 query && strstr(query, "ask=") ? "" : "ask=2s");
	if (*all && all[strlen(all) - 1] == '&')
		all[strlen(all) - 1] = '\0';
	return client_of_case(uri_of(port, all), &o);
}

void warm_up(dlock_client *c)
{
	dlock_lock *l = mutex(c, "warm-up");

	give(take(l, patience_ms()));
	end_now(l);
}

void end(dlock_client *c, dlock_lock *l)
{
	end_now(l);
	end_now(c);
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
