/* SPDX-License-Identifier: Apache-2.0 */
/* Messages are a part of the interface. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"

TestSuite(zk_messages, .timeout = 120);

static void says(dlock_lock *l, int64_t timeout_ms, int code, const char *text)
{
	dlock_hold *h = NULL;

	CHECK_RC(dlock_acquire(l, timeout_ms, &h), code);
	CHECK_TEXT(dlock_errmsg(), text);
}

OWN(zk_messages, of_no_connection_say_why)
{
	dlock_client *c = client(s->port, "?ttl=30s&ask=2s&close=5s");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *none = NULL;
	char text[96], shown[32];

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	CHECK_INT(lab_server_stop(s), ==, 0);
	snprintf(shown, sizeof(shown), "127.0.0.1:%d", s->port);
	snprintf(text, sizeof(text), "no connection: %s: Connection refused",
		 shown);
	/* This request may be under way when the connection is lost. */
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EUNREACHABLE);
	says(l, 0, DLOCK_EUNREACHABLE, text);
	says(l, 100, DLOCK_EUNREACHABLE, text);
	refused(s->port, "?connect=1s", DLOCK_EUNREACHABLE, text);
	refused(s->port, "?connect=1s", DLOCK_EUNREACHABLE,
		"connect= in the URI gives it more");
	CHECK_INT(lab_server_restart(s, true), ==, 0);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
}

/* ... and not when the time to connect is over. */
OWN(zk_messages, come_at_once_to_a_program_that_asks_once)
{
	dlock_options once = DLOCK_OPTIONS_INIT;
	dlk_time begun = dlk_now();
	dlock_client *none;
	char uri[512];

	once.once = 1;
	CHECK_INT(lab_server_stop(s), ==, 0);
	uri_as(uri, "", s->port, "?connect=30s");
	CHECK_RC(dlock_open(&none, uri, &once), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "Connection refused");
	CHECK_INT(dlk_now() - begun, <, 15000 * DLK_MS);
}

/* The client was cut off for longer than the session lasts. */
OWN(zk_messages, of_no_connection_name_the_end_of_the_session)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = watched_client(lab_proxy_port(p),
					 "?ttl=4s&ask=1s&close=5s");
	dlock_hold *h = take(mutex(c, "x"), PATIENCE);

	lab_proxy_refuse(p, true);
	lab_proxy_reset(p);
	EVENTUALLY(diary.losses == 1);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	EVENTUALLY(dlock_acquire(mutex(c, "y"), 0, &h) == DLOCK_EUNREACHABLE &&
		   strstr(dlock_errmsg(), " since "));
	CHECK_TEXT(dlock_errmsg(), "Connection refused");
	lab_proxy_heal(p);
	CHECK_OK(dlock_release(take(mutex(c, "y"), PATIENCE)));
}

CASE(zk_messages, of_another_store_name_its_scheme)
{
	struct lab_server *redis = lab_redis_start(NULL);
	struct lab_server *memcached = lab_memcached_start(NULL);

	CHECK(redis && memcached);
	refused(redis->port, "?connect=2s", DLOCK_EUNREACHABLE,
		"is Redis: use redis:// for it");
	refused(memcached->port, "?connect=2s", DLOCK_EUNREACHABLE,
		"is memcached: use memcached:// for it");
	lab_server_free(memcached);
	lab_server_free(redis);
}

OWN(zk_messages, of_a_frozen_server_say_that_it_is_silent)
{
	lab_server_pause(s);
	refused(s->port, "?connect=4s", DLOCK_EUNREACHABLE,
		"accepts connections and does not answer");
	lab_server_resume(s);
}
