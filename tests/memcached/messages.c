/* SPDX-License-Identifier: Apache-2.0 */
/* What messages say is part of the interface. */
#include "support.h"

#include <stdio.h>

#include "support/hostile.h"
#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "support/check.h"

TestSuite(memcached_messages, .timeout = 60);

static void refused(int port, int code, const char *part)
{
	dlock_client *c = NULL;
	char uri[64];

	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?connect=5s",
		 port);
	CHECK_RC(dlock_open(&c, uri, NULL), code);
	CHECK_TEXT(dlock_errmsg(), part);
}

static void of_a_redis_server(const char *password)
{
	struct lab_redis_options o = { .password = password };
	struct lab_server *s = lab_redis_start(&o);

	if (!s)
		FAIL("%s", lab_errmsg());
	refused(s->port, DLOCK_EINVAL,
		"answers as Redis does, not as memcached: use redis://");
	lab_server_free(s);
}

Test(memcached_messages, of_a_redis_server_name_its_scheme)
{
	of_a_redis_server(NULL);
}

Test(memcached_messages, of_a_redis_server_with_a_password_name_its_scheme)
{
	of_a_redis_server("secret");
}

/* As one that was started with -Y says. */
Test(memcached_messages, of_a_server_that_wants_a_login_say_so)
{
	static const char answer[] = "CLIENT_ERROR unauthenticated\r\n";
	struct hostile *h = hostile_start(NULL);

	hostile_say(h, NULL, answer, sizeof(answer) - 1);
	refused(hostile_port(h), DLOCK_EDENIED,
		"wants a login (its -Y): give user and password in the URI");
	hostile_free(h);
}
