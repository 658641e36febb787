/* SPDX-License-Identifier: Apache-2.0 */
/* A host name that leads to several servers, or to another one than before. */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hostile.h"
#include "support/names.h"

/* Without a connection that breaks, a loss is found after ten seconds. */
#define URI "memcached://many.test/?ttl=30s&ask=1s&connect=5s&protocol="
#define SOON_MS 5000

static void refused(const char *protocol, const char *part)
{
	dlock_client *c = NULL;
	char uri[128];

	snprintf(uri, sizeof(uri), URI "%s", protocol);
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), part);
}

static dlock_client *open_many(const char *protocol)
{
	dlock_client *c = NULL;
	char uri[128];

	snprintf(uri, sizeof(uri), URI "%s", protocol);
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

/* Which order a resolver gives is chance: each of two clients would take the
 * lock at another server, with the same token. */
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
	scene_end(&a);
	scene_end(&b);
}

/* Started in the same second by the same process id, as in two containers. */
EITHER_WAY(memcached_several, servers_that_look_alike_are_refused)
{
	struct scene a = scene_new(protocol, NULL);
	struct scene b = scene_new(protocol, NULL);
	struct hostile *h = hostile_start(b.server);
	char reply[65536], answer[512];
	static const char *const told[] = { "pid", "uptime", "time",
					    "version" };
	size_t len = 0;

	CHECK_INT(lab_memcached_do(a.server, reply, sizeof(reply), "stats"), ==,
		  0);
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
	hostile_free(h);
	scene_end(&a);
	scene_end(&b);
}

EITHER_WAY(memcached_several, addresses_of_one_server_are_fine)
{
	struct scene a = scene_new(protocol, NULL);
	dlock_client *c;
	dlock_lock *l = NULL;

	names_lead_to(a.server->port, lab_proxy_port(a.proxy));
	c = open_many(protocol);
	CHECK_OK(dlock_mutex_new(&l, c, "x"));
	give(take(l));
	dlock_lock_free(l);
	dlock_close(c);
	scene_end(&a);
}

struct one_try {
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold; /* NULL: it has none */
};

/* If it cannot open, `why` says so. */
static struct one_try try_once(const char *protocol, const char *why)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct one_try t = { 0 };
	char uri[128];
	int rc;

	o.once = 1;
	snprintf(uri, sizeof(uri), URI "%s", protocol);
	rc = dlock_open(&t.client, uri, &o);
	if (rc != DLOCK_OK) {
		CHECK_INT(rc, ==, DLOCK_EUNREACHABLE);
		CHECK_TEXT(dlock_errmsg(), why);
		return t;
	}
	CHECK_OK(dlock_mutex_new(&t.lock, t.client, "x"));
	rc = dlock_acquire(t.lock, 0, &t.hold);
	CHECK(rc == DLOCK_OK || rc == DLOCK_EBUSY);
	return t;
}

static void end_try(struct one_try *t)
{
	if (t->hold)
		give(t->hold);
	dlock_lock_free(t->lock);
	dlock_close(t->client);
}

/* Each of two clients finds one of two servers, and not the other. */
EITHER_WAY(memcached_several, servers_that_refuse_in_turn)
{
	struct scene of[2] = { scene_new(protocol, NULL),
			       scene_new(protocol, NULL) };
	struct one_try tries[2];
	char why[80];

	names_lead_to(lab_proxy_port(of[0].proxy), lab_proxy_port(of[1].proxy));
	for (int i = 0; i < 2; i++) {
		struct lab_proxy *other = of[1 - i].proxy;

		snprintf(why, sizeof(why), ":%d refuses connections",
			 lab_proxy_port(other));
		lab_proxy_refuse(other, true);
		tries[i] = try_once(protocol, why);
		lab_proxy_refuse(other, false);
	}
	CHECK(!tries[0].hold || !tries[1].hold);
	for (int i = 0; i < 2; i++) {
		end_try(&tries[i]);
		scene_end(&of[i]);
	}
}

/* The session keeps its server, even if the name leads elsewhere, or the server
 * forgets what it is known by. */
EITHER_WAY(memcached_several, one_is_kept_while_it_answers)
{
	struct scene a = scene_new(protocol, NULL);
	struct scene b = scene_new(protocol, NULL);
	dlock_client *c;
	dlock_lock *l = NULL;
	dlock_hold *h;

	names_lead_to(lab_proxy_port(a.proxy), 0);
	c = open_many(protocol);
	CHECK_OK(dlock_mutex_new(&l, c, "x"));
	h = take(l);
	CHECK_INT(lab_memcached_do(a.server, NULL, 0, "delete dlock.0"), ==, 0);
	names_lead_to(b.server->port, 0);
	lab_proxy_reset(a.proxy);
	ask(mutex(direct(&a, ""), "x"), 0, DLOCK_EBUSY);
	give(h);
	h = take(l);
	ask(mutex(direct(&a, ""), "x"), 0, DLOCK_EBUSY);
	give(take(mutex(direct(&b, ""), "x")));
	CHECK_OK(dlock_check(h));
	give(h);
	dlock_lock_free(l);
	dlock_close(c);
	scene_end(&a);
	scene_end(&b);
}

/* Then every hold is verified, and waits go on at the other server. */
EITHER_WAY(memcached_several, one_that_has_gone_is_a_fail_over)
{
	struct scene a = scene_new(protocol, NULL);
	struct scene b = scene_new(protocol, NULL);
	dlock_client *c;
	dlock_lock *l = NULL, *other = NULL;
	dlock_hold *h, *next;
	int64_t begun;

	names_lead_to(a.server->port, 0);
	c = open_many(protocol);
	CHECK_OK(dlock_mutex_new(&l, c, "x"));
	CHECK_OK(dlock_mutex_new(&other, c, "y"));
	h = take(l);
	names_lead_to(b.server->port, 0);
	CHECK_INT(lab_server_kill(a.server), ==, 0);
	begun = now_ms();
	next = take(other);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - begun, <=, SOON_MS + slack_ms());
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	ask(mutex(direct(&b, ""), "y"), 0, DLOCK_EBUSY);
	give(next);
	dlock_lock_free(l);
	dlock_lock_free(other);
	dlock_close(c);
	scene_end(&a);
	scene_end(&b);
}
