/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/store.h"

#include <stdarg.h>
#include <stdio.h>

#include "lab/base/fail.h"
#include "lab/servers/server.h"

char *store_text(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		bench_fail("out of memory");
	va_end(ap);
	return text;
}

void store_serve(struct bench_store *s, struct lab_server *server,
		 const char *query)
{
	if (!server)
		bench_skip("%s", lab_errmsg());
	s->server = server;
	s->uri = store_text("%s://%s:%d/%s", s->desc->name, LAB_LOOPBACK,
			    server->port, query);
}

dlock_client *store_client(const struct bench_store *s)
{
	dlock_client *client;
	int rc = dlock_open(&client, s->uri, NULL);

	if (rc == DLOCK_ENOTSUP)
		bench_skip("%s", dlock_errmsg());
	bench_check(rc, "dlock_open");
	return client;
}

struct store_load store_load_since(const struct bench_store *s,
				   struct store_load before, double parts)
{
	struct store_load now = s->desc->load(s);

	now.requests = (now.requests - before.requests) / parts;
	now.replies = (now.replies - before.replies) / parts;
	now.script_us = (now.script_us - before.script_us) / parts;
	return now;
}
