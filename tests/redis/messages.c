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
