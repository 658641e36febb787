/* SPDX-License-Identifier: Apache-2.0 */
/* An upgrade and the writer at the gate. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#define OWNER "0123456789abcdef0123456789abcdef"

/* Put a writer at the gate of "x": `token` as the item says it, `word` in the
 * limit's place. */
static void put_writer(const struct scene *s, const char *token, int word)
{
	char text[80];

	snprintf(text, sizeof(text), "dlock1 " OWNER " %s %d writer", token,
		 word);
	scene_put(s, "set", "lnx", 60, text);
}

static int writer_is_there(const struct scene *s)
{
	return strstr(scene_do(s, "get %s", "lnx"), OWNER) != NULL;
}

/* Check that an upgrade waits until the writer has gone. */
static void check_waits(const struct scene *s, const char *token, int word)
{
	dlock_lock *upg = upgradeable(rwlock(direct(s, ""), "x"));
	dlock_hold *r = take(upg), *w = NULL;

	put_writer(s, token, word);
	CHECK_RC(dlock_upgrade(upg, r, 300, &w), DLOCK_EBUSY);
	CHECK(writer_is_there(s));
	CHECK_OK(dlock_check(r));
	scene_do(s, "delete %s", "lnx");
	CHECK_OK(dlock_upgrade(upg, r, patience_ms(), &w));
	give(w);
	give(r);
}

EITHER_WAY(memcached_upgrade, overtakes_a_waiting_writer)
{
	dlock_lock *upg = upgradeable(rwlock(direct(&s, ""), "x"));
	dlock_hold *r = take(upg), *w = NULL;

	put_writer(&s, "7", 1);
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
	check_waits(&s, "7", 0);
}

/* The server has evicted the mark: the writer's first request finds no mark,
 * and the writer has the lock without a look at the slots. */
EITHER_WAY(memcached_upgrade, waits_for_a_writer_that_found_no_mark)
{
	check_waits(&s, "0.1", 1);
}
