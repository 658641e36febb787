/* SPDX-License-Identifier: Apache-2.0 */
/* What messages say is part of the interface. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "lab/base/fail.h"
#include "lab/servers/memcached.h"

TestSuite(redis_messages, .timeout = 120);

CASE(redis_messages, of_a_memcached_server_name_its_scheme)
{
	struct lab_server *m = lab_memcached_start(NULL);

	if (!m)
		FAIL("%s", lab_errmsg());
	refused(uri_of(m->port, NULL), DLOCK_EINVAL,
		"answers as memcached does, not as Redis: use memcached://");
	refused(uri_of(m->port, "db=3"), DLOCK_EINVAL, "use memcached://");
	lab_server_free(m);
}

/* The command, as the server names it. */
CASE(redis_messages, of_a_missing_right_name_it)
{
	struct lab_server *s = server_start(NULL);
	dlock_client *c = NULL;
	dlock_hold *h = NULL;
	dlock_lock *l;
	char uri[96];

	server_do(s, "ACL SETUSER app on >pw ~dlock:* &dlock:* +@all");
	snprintf(uri, sizeof(uri), "redis://app:pw@127.0.0.1:%d/?ask=2s",
		 s->port);
	CHECK_OK(dlock_open(&c, uri, NULL));
	l = mutex(closed_at_end(c), "x");
	give(take(l, 0));
	server_do(s, "ACL SETUSER app -evalsha");
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), "'evalsha'");
	CHECK_TEXT(dlock_errmsg(), "see docs/redis.md for the ACL rule");
	server_do(s, "ACL SETUSER app +evalsha");
	give(take(l, 0));
}

CASE(redis_messages, of_too_few_connections_name_the_parameter)
{
	struct lab_server *s;
	struct lab_proxy *p;
	dlock_client *c;
	struct taker t = { 0 };
	dlock_hold *h = NULL;

	if (by_engine())
		return; /* its requests share a connection */
	s = server_start(NULL);
	p = proxy_start(s);
	c = client_of(lab_proxy_port(p), "pool=1&ask=300ms", NULL);
	warm_up(c);
	lab_proxy_hold(p, "EVAL");
	taker_start(&t, mutex(c, "x"), patience_ms());
	if (lab_proxy_wait(p, LAB_HELD, 1, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	CHECK_RC(dlock_acquire(mutex(c, "y"), 0, &h), DLOCK_EEXHAUSTED);
	CHECK_TEXT(dlock_errmsg(), "(pool=)");
	lab_proxy_heal(p);
	EVENTUALLY(t.done);
	let_go(&t);
}
