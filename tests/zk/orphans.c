/* SPDX-License-Identifier: Apache-2.0 */
/* Orphans: nodes for the session to delete. */
#include <criterion/criterion.h>

#include "support/check.h"
#include "zk/support.h"
#include "support/ticket.h"

TestSuite(zk_orphans, .timeout = 120);

#define DIR "/dlock/lnx"

/* A sixth of the ttl is time for two answers, and the deletion of the node of a
 * request without an answer. */
SHARED(zk_orphans, are_found_on_a_slow_way)
{
	static struct ticket t;
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=12s");

	ticket_take(&t, c);
	ticket_give(&t);
	ticket_make(&t, c, DLK_EXCLUSIVE);
	lab_proxy_swallow(p, t.owner, LAB_THEN_RESET);
	lab_proxy_delay(p, LAB_DOWN, 700);
	CHECK_INT(ticket_ask_for(&t, PATIENCE), ==, DLK_FAILED);
	CHECK_INT(ticket_release_for(&t, 0), ==, DLOCK_EUNREACHABLE);
	CHECK_INT(children(DIR, NULL), ==, 1);
	EVENTUALLY(children_are(DIR, 0));
}

/* The core repeats such a release, and may have no memory for the orphan. */
SHARED(zk_orphans, are_left_by_a_deletion_that_was_lost)
{
	static struct ticket t;
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=12s");

	ticket_take(&t, c);
	lab_proxy_hold(p, t.owner);
	CHECK_INT(ticket_release_begin(&t), ==, DLK_SENT);
	EVENTUALLY(lab_proxy_stat(p, LAB_HELD) == 1);
	lab_proxy_reset(p);
	EVENTUALLY(children_are(DIR, 0));
}

static void allow(const char *dir, int32_t rights)
{
	struct ACL everybody = { rights, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector acl = { 1, &everybody };

	CHECK_INT(zoo_set_acl(bare(), dir, -1, &acl), ==, ZOK);
}

/* The core has given up, and the session goes on. */
SHARED(zk_orphans, that_may_not_be_deleted_keep_no_others)
{
	static const char *const dir[] = { "/dlock/lnold", "/dlock/lnnew" };
	dlock_client *c = client(s->port, "?ttl=1s&ask=5s");
	dlock_hold *h[] = { take(mutex(c, "old")), take(mutex(c, "new")) };

	for (int i = 0; i < 2; i++) {
		allow(dir[i], ZOO_PERM_ALL & ~ZOO_PERM_DELETE);
		CHECK_RC(dlock_release(h[i]), DLOCK_EUNREACHABLE);
	}
	EVENTUALLY(stats(c).pending_cleanups == 0);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(children(dir[i], NULL), ==, 1);
		allow(dir[i], ZOO_PERM_ALL);
		EVENTUALLY(children_are(dir[i], 0));
	}
}
