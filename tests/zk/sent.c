/* SPDX-License-Identifier: Apache-2.0 */
/* release=async: a release returns when the deletion is sent. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "support/locks.h"
#include "support/wait.h"

TestSuite(zk_sent, .timeout = 120);

#define DIR "/dlock/lnlock"
#define QUERY "?ttl=30s&ask=5s&release=async"

static int is_settled(dlock_client *c)
{
	return stats(c).pending_cleanups == 0;
}

OWN(zk_sent, it_waits_for_no_server)
{
	dlock_client *c = client(s->port, QUERY "&close=60s");
	dlock_client *other = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h;

	taken(mutex(other, "another"));
	h = take(l, PATIENCE);
	CHECK_INT(lab_server_pause(s), ==, 0);
	CHECK_OK(dlock_release(h));
	CHECK_INT(stats(c).pending_cleanups, ==, 1);
	CHECK_INT(lab_server_resume(s), ==, 0);
	taken(mutex(other, "lock"));
	EVENTUALLY(is_settled(c));
}

/* The deletion is lost, and the node goes long before the session ends.  The
 * next request goes over the new connection: a request lost with the old
 * connection might arrive, and until then no release of this lock is sent
 * ahead. */
SHARED(zk_sent, it_may_be_lost_with_its_connection)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *far = client(lab_proxy_port(p), QUERY);
	dlock_client *near = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(far, "lock"), *theirs = mutex(near, "lock");

	for (int i = 0; i < 4; i++) {
		dlock_hold *h = take(l, PATIENCE);
		uint64_t token = dlock_token(h);
		uint64_t accepted = lab_proxy_stat(p, LAB_ACCEPTED);

		lab_proxy_hole(p, LAB_UP, true);
		CHECK_OK(dlock_release(h));
		lab_proxy_reset(p);
		lab_proxy_heal(p);
		CHECK_INT(lab_proxy_wait(p, LAB_ACCEPTED, accepted + 1,
					 PATIENCE),
			  ==, 0);
		h = take(i % 2 ? l : theirs, PATIENCE);
		CHECK(dlock_token(h) > token);
		EVENTUALLY(is_settled(far));
		CHECK_OK(dlock_check(h));
		CHECK_INT(children(DIR, NULL), ==, 1);
		CHECK_OK(dlock_release(h));
	}
}
