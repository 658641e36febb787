/* SPDX-License-Identifier: Apache-2.0 */
/* URIs: servers, users, databases.  No message holds a password. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "dlock_config.h"
#include "support/address.h"

TestSuite(redis_uri, .timeout = 120);

static dlock_client *open_uri(struct diary *d, const char *uri)
{
	dlock_options o = diary_options(d);

	return client_of_case(uri, &o);
}

CASE(redis_uri, valkey_is_another_name)
{
	struct lab_server *server = server_start(NULL);
	char uri[128];

	snprintf(uri, sizeof(uri), "valkey://127.0.0.1:%d?ask=2s",
		 server->port);
	opening_works(uri, NULL);
	snprintf(uri, sizeof(uri), "redis://localhost:%d?ask=2s", server->port);
	opening_works(uri, NULL);
}

CASE(redis_uri, of_an_ipv6_address)
{
	struct lab_redis_options o = { .config = "bind 127.0.0.1 ::1\n" };
	struct lab_server *server;
	char uri[128];

	if (!address_six_is_there())
		cr_skip_test("no IPv6 here");
	server = server_start(&o);
	snprintf(uri, sizeof(uri), "redis://[::1]:%d/?ask=2s", server->port);
	opening_works(uri, NULL);
	opening_fails("redis://[::1]:1/?connect=300ms", DLOCK_EUNREACHABLE,
		      "[::1]:1");
}

CASE(redis_uri, that_is_wrong_is_refused_with_the_reason)
{
	opening_fails("redis://a,b/", DLOCK_EINVAL, "several hosts");
	opening_fails("redis://a:1,b:2,c/0", DLOCK_EINVAL, "several hosts");
	opening_fails("redis:", DLOCK_EINVAL, "host");
	opening_fails("redis+unix://host/socket", DLOCK_EINVAL, "redis+unix");
	opening_fails("redis+unix:///no/such/socket?connect=200ms",
		      DLOCK_EUNREACHABLE, "/no/such/socket");
	opening_fails("redis:///0", DLOCK_EINVAL, "host");
	opening_fails("redis://h/zero", DLOCK_EINVAL, "database");
	opening_fails("redis://h/0/1", DLOCK_EINVAL, "database");
	opening_fails("redis://h/-1", DLOCK_EINVAL, "database");
	opening_fails("redis://h/99999", DLOCK_EINVAL, "database");
	opening_fails("redis://h/1?db=1", DLOCK_EINVAL, "twice");
	opening_fails("redis://h/?order=none", DLOCK_EINVAL, "order");
	opening_fails("redis://h/?pool=4", DLOCK_EINVAL, "pool");
	opening_fails("redis://h:0/", DLOCK_EINVAL, "port");
	opening_fails("redis://h:65536/", DLOCK_EINVAL, "port");
	opening_fails("redis://h/?nonsense=1", DLOCK_EINVAL, "nonsense");
	opening_fails("redis://h/?tls_name=x", DLOCK_EINVAL, "tls_name");
	opening_fails("redis://h/?client_name=two%20words", DLOCK_EINVAL,
		      "client_name");
	opening_fails("redis://h/?client_name=caf%C3%A9", DLOCK_EINVAL,
		      "client_name");
#if DLOCK_HAVE_TLS
	opening_fails("rediss://h/zero", DLOCK_EINVAL, "database");
	opening_fails("valkeys://h/?tls_verify=of", DLOCK_EINVAL,
		      "full|ca|off");
#else
	opening_fails("rediss://h/", DLOCK_ENOTSUP, "-DDLOCK_TLS=ON");
#endif
	opening_fails("redis://127.0.0.1:1/?connect=300ms", DLOCK_EUNREACHABLE,
		      "127.0.0.1:1");
}

/* ---- Passwords ----------------------------------------------------------- */

#define SECRET "h%%2fnter2-secret" /* in a format */
#define RAW "h/nter2-secret"

static void tells_nothing(const char *text)
{
	CHECK(!strstr(text, "nter2"));
}

static void refused_silently(struct diary *d, const char *uri, int code,
			     const char *part)
{
	dlock_options o = diary_options(d);
	dlock_client *c = NULL;

	CHECK_RC(dlock_open(&c, uri, &o), code);
	CHECK_TEXT(dlock_errmsg(), part);
	tells_nothing(dlock_errmsg());
}

CASE(redis_uri, password_of_the_default_user)
{
	struct lab_redis_options o = { .password = RAW };
	struct lab_server *server = server_start(&o);
	static struct diary d = DIARY_INIT;
	struct lab_server *without = server_start(NULL);
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *none = NULL;
	char uri[160];

	snprintf(uri, sizeof(uri), "redis://:" SECRET "@127.0.0.1:%d/",
		 without->port);
	refused_silently(&d, uri, DLOCK_EDENIED, "has no password");
	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/", server->port);
	refused_silently(&d, uri, DLOCK_EDENIED, "wants a password");
	snprintf(uri, sizeof(uri), "redis://:wrong@127.0.0.1:%d/",
		 server->port);
	refused_silently(&d, uri, DLOCK_EDENIED, "refused our");
	snprintf(uri, sizeof(uri), "redis://other:" SECRET "@127.0.0.1:%d/",
		 server->port);
	refused_silently(&d, uri, DLOCK_EDENIED, "refused our");
	snprintf(uri, sizeof(uri), "redis://:" SECRET "@127.0.0.1:%d/?ask=2s",
		 server->port);
	c = open_uri(&d, uri);
	tells_nothing(dlock_uri(c));
	warm_up(c);
	/* A new connection logs in as well. */
	server_do(server, "CLIENT KILL TYPE normal");
	warm_up(c);
	server_do(server, "CONFIG SET requirepass other");
	server_do(server, "CLIENT KILL TYPE normal");
	l = mutex(c, "x");
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EDENIED);
	tells_nothing(dlock_errmsg());
	end(c, l);
	tells_nothing(d.log);
}

CASE(redis_uri, password_is_not_told_when_all_goes_wrong)
{
	struct lab_redis_options o = { .password = RAW };
	struct lab_server *server = server_start(&o);
	struct lab_proxy *proxy = proxy_of_case(server);
	static struct diary d = DIARY_INIT;
	dlock_hold *h, *none = NULL;
	dlock_client *c;
	dlock_lock *l;
	char uri[200];

	snprintf(uri, sizeof(uri),
		 "redis://:" SECRET "@127.0.0.1:%d/?ttl=900ms&ask=100ms&"
		 "connect=300ms&close=300ms",
		 lab_proxy_port(proxy));
	c = open_uri(&d, uri);
	l = mutex(c, "x");
	h = take(l, patience_ms());
	lab_proxy_refuse(proxy, true);
	lab_proxy_reset(proxy);
	EVENTUALLY(d.losses == 1);
	dlock_release(h);
	tells_nothing(dlock_errmsg());
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EUNREACHABLE);
	tells_nothing(dlock_errmsg());
	lab_proxy_heal(proxy);
	server_do(server, "CONFIG SET requirepass other");
	lab_proxy_reset(proxy);
	CHECK(dlock_acquire(l, 200, &none) != DLOCK_OK);
	tells_nothing(dlock_errmsg());
	end(c, l);
	tells_nothing(d.log);
}
