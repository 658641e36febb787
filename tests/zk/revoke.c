/* SPDX-License-Identifier: Apache-2.0 */
/* The holder hears of a revoke. A revoke leaves no node behind. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "zk/ticket.h"

TestSuite(zk_revoke, .timeout = 120);

#define DIR "/dlock/lnx"
#define PARAMS "?ttl=30s&ask=5s"
#define QUIET_MS 100

/* From another client, and from the client of the holder. */
CASE(zk_revoke, is_heard_each_time)
{
	struct lab_server *s = server(NULL);
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l[2] = { mutex(client(s->port, PARAMS), "x"),
			     mutex(c, "x") };
	zhandle_t *zh = bare(s->port);
	struct ticket t;

	/* Of an unused lock. */
	CHECK_OK(dlock_revoke(l[0], PATIENCE));
	ticket_take(&t, c);
	for (int i = 0; i < 10; i++) {
		CHECK_INT(ticket_watch(&t), ==, 0);
		t.told = 0;
		CHECK_OK(dlock_revoke(l[i % 2], PATIENCE));
		CHECK(children_are(zh, DIR, 1));
		EVENTUALLY(t.told);
	}
	ticket_give(&t);
}

/* The answer to the deletion is late. */
CASE(zk_revoke, leaves_nothing)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	dlock_lock *l = mutex(client(lab_proxy_port(p), PARAMS), "x");
	dlock_hold *h = take(mutex(client(s->port, PARAMS), "x"), PATIENCE);
	zhandle_t *zh = bare(s->port);

	lab_proxy_hold(p, "/r-");
	CHECK_RC(dlock_revoke(l, 100), DLOCK_EUNREACHABLE);
	CHECK(children_are(zh, DIR, 1));
	lab_proxy_deliver(p);
	EVENTUALLY(children_are(zh, DIR, 1));
	ALL_ALONG(QUIET_MS, children_are(zh, DIR, 1));
	give(h);
}
