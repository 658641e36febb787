/* SPDX-License-Identifier: Apache-2.0 */
/* A host name that leads to several servers, or to another server later.  The
 * rest of the engine: redis_several. */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hostile.h"
#include "support/names.h"

#define URI "memcached://many.test/?ttl=30s&ask=1s&connect=5s&protocol="

static void refused(const char *protocol, const char *part)
{
	char uri[128];

	snprintf(uri, sizeof(uri), URI "%s", protocol);
	opening_fails(uri, DLOCK_EINVAL, part);
}

static dlock_client *open_many(const char *protocol)
{
	char uri[128];

	snprintf(uri, sizeof(uri), URI "%s", protocol);
	return client_of_case(uri, NULL);
}

/* The resolver's order is chance, so each of two clients would take the lock at
 * another server, with the same token. */
EITHER_WAY(memcached_several, servers_of_one_name_are_refused)
{
	struct scene a = scene_new(protocol, NULL);
	struct scene b = scene_new(protocol, NULL);
	char both[80];

	for (int i = 0; i < 2; i++) {
		int first = i ? b.server->port : a.server->port;
		int second = i ? a.server->port : b.server->port;

		names_lead_to(first, second);
		snprintf(both, sizeof(both),
			 "127.0.0.1:%d and 127.0.0.1:%d are two servers", first,
			 second);
		refused(protocol, both);
	}
}

/* Started in the same second by the same process id, as in two containers. */
EITHER_WAY(memcached_several, servers_that_look_alike_are_refused)
{
	struct scene a = scene_new(protocol, NULL);
	struct scene b = scene_new(protocol, NULL);
	struct hostile *h = hostile_start(b.server);
	const char *reply = scene_do(&a, "stats", NULL);
	char answer[512];
	static const char *const told[] = { "pid", "uptime", "time",
					    "version" };
	size_t len = 0;

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		char line[32];
		const char *at;

		snprintf(line, sizeof(line), "STAT %s ", told[i]);
		at = strstr(reply, line);
		CHECK(at);
		len += (size_t)snprintf(answer + len, sizeof(answer) - len,
					"%.*s\r\n", (int)strcspn(at, "\r"), at);
	}
	len += (size_t)snprintf(answer + len, sizeof(answer) - len,
				"END\r\nSTORED\r\nVALUE dlock.0 0 32 1\r\n"
				"%032d\r\nEND\r\nSTORED\r\n"
				"VALUE dlock.p 0 11 2\r\npool1 0 1/1\r\n"
				"END\r\n%s",
				1,
				strcmp(protocol, "meta") == 0 ? "MN\r\n" : "");
	hostile_say(h, "^stats", answer, len);
	names_lead_to(a.server->port, hostile_port(h));
	refused(protocol, "are two servers");
}

EITHER_WAY(memcached_several, addresses_of_one_server_are_fine)
{
	struct scene a = scene_new(protocol, NULL);

	names_lead_to(a.server->port, lab_proxy_port(a.proxy));
	give(take(mutex(open_many(protocol), "x")));
}

/* Even if the name leads elsewhere, and the server forgets the witness. */
EITHER_WAY(memcached_several, a_server_is_kept_while_it_answers)
{
	struct scene a = scene_new(protocol, NULL);
	struct scene b = scene_new(protocol, NULL);
	dlock_lock *l;
	dlock_hold *h;

	names_lead_to(lab_proxy_port(a.proxy), 0);
	l = mutex(open_many(protocol), "x");
	h = take(l);
	scene_do(&a, "delete dlock.0", NULL);
	names_lead_to(b.server->port, 0);
	lab_proxy_reset(a.proxy);
	ask(mutex(direct(&a, ""), "x"), 0, DLOCK_EBUSY);
	give(h);
	h = take(l);
	ask(mutex(direct(&a, ""), "x"), 0, DLOCK_EBUSY);
	give(take(mutex(direct(&b, ""), "x")));
	CHECK_OK(dlock_check(h));
	give(h);
}
