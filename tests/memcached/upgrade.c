/* SPDX-License-Identifier: Apache-2.0 */
/* An upgrade and the writer at the gate. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#define OWNER "0123456789abcdef0123456789abcdef"

/* Put a waiting writer at the gate of "x": `word` is in the limit's place. */
static void put_writer(const struct scene *s, int word)
{
	char text[80];

	snprintf(text, sizeof(text), "dlock1 " OWNER " 0.1 %d writer", word);
	scene_put(s, "set", "lnx", 60, text);
}

static int writer_is_there(const struct scene *s)
{
	return strstr(scene_do(s, "get %s", "lnx"), OWNER) != NULL;
}

EITHER_WAY(memcached_upgrade, overtakes_a_waiting_writer)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *upg = upgradeable(rwlock(direct(&s, ""), "x"));
	dlock_hold *r = take(upg), *w = NULL;

	put_writer(&s, 1);
	CHECK_OK(dlock_upgrade(upg, r, patience_ms(), &w));
	CHECK(!writer_is_there(&s));
	CHECK_INT(dlock_token(w), >, dlock_token(r));
	give(w);
	give(r);
}

/* A writer of an earlier version takes the lock as soon as the slots are empty,
 * and would not notice the loss of the gate. */
EITHER_WAY(memcached_upgrade, waits_for_a_writer_of_an_earlier_version)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *upg = upgradeable(rwlock(direct(&s, ""), "x"));
	dlock_hold *r = take(upg), *w = NULL;

	put_writer(&s, 0);
	CHECK_RC(dlock_upgrade(upg, r, 300, &w), DLOCK_EBUSY);
	CHECK(writer_is_there(&s));
	CHECK_OK(dlock_check(r));
	scene_do(&s, "delete %s", "lnx");
	CHECK_OK(dlock_upgrade(upg, r, patience_ms(), &w));
	give(w);
	give(r);
}
