/* SPDX-License-Identifier: Apache-2.0 */
/* Orphans: nodes for the session to delete. */
#include "backends/zk/orphans.h"

#include <criterion/criterion.h>

#include "backends/zk/session.h"
#include "support/case.h"
#include "support/check.h"

TestSuite(zk_orphans, .timeout = 120);

static struct zk_session session;

static void put(const char *owner)
{
	const struct zk_ticket t = {
		.base.request = { .key = "lnx", .owner = owner },
	};
	struct zk_orphan *o = dlki_zk_orphan_new();

	dlki_zk_orphan_set(o, &t);
	dlki_zk_orphans_put(&session, o);
}

static int count(void)
{
	int n = 0;

	for (struct zk_orphan *o = session.orphans.first; o; o = o->next)
		n++;
	return n;
}

/* An unanswered release makes an orphan for a node that has an orphan since the
 * deletion was sent. */
CASE(zk_orphans, put_twice_leave_the_others)
{
	put("a");
	put("b");
	put("c");
	CHECK_INT(count(), ==, 3);
	put("b");
	put("a");
	CHECK_INT(count(), ==, 3);
	dlki_zk_orphans_remove(&session, "b");
	dlki_zk_orphans_remove(&session, "a");
	CHECK_INT(count(), ==, 1);
	CHECK_TEXT(session.orphans.first->owner, "c");
	dlki_zk_orphans_free(&session);
}
