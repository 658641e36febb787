/* SPDX-License-Identifier: Apache-2.0 */
/* An upgrade and the writer at the gate. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#define OWNER "0123456789abcdef0123456789abcdef"

/* Put a waiting writer at the gate of "x": `word` is in the limit's place. */
static void put_writer(const struct scene *s, int word)
{
	char text[80], command[128];

	snprintf(text, sizeof(text), "dlock1 " OWNER " 0.1 %d writer", word);
	snprintf(command, sizeof(command), "set %%s 0 60 %zu\r\n%s",
		 strlen(text), text);
	CHECK_INT(lab_memcached_do(s->server, NULL, 0,
				   with_key(s, command, "lnx")),
		  ==, 0);
}

static int writer_is_there(const struct scene *s)
{
	char answer[512] = "";

	CHECK_INT(lab_memcached_do(s->server, answer, sizeof(answer),
				   with_key(s, "get %s", "lnx")),
		  ==, 0);
	return strstr(answer, OWNER) != NULL;
}

static dlock_lock *upgradeable(dlock_client *c)
{
	dlock_lock *rw = NULL, *upg = NULL;

	CHECK_OK(dlock_rwlock_new(&rw, c, "x"));
	CHECK_OK(dlock_upgradeable_new(&upg, rw));
	dlock_lock_free(rw);
	return upg;
}

EITHER_WAY(memcached_upgrade, overtakes_a_waiting_writer)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *upg = upgradeable(direct(&s, ""));
	dlock_hold *r = take(upg), *w = NULL;

	put_writer(&s, 1);
	CHECK_OK(dlock_upgrade(upg, r, patience_ms(), &w));
	CHECK(!writer_is_there(&s));
	CHECK_INT(dlock_token(w), >, dlock_token(r));
	give(w);
	give(r);
	dlock_lock_free(upg);
	scene_end(&s);
}

/* A writer of an earlier version takes the lock as soon as the slots are empty,
 * and would not notice the loss of the gate. */
EITHER_WAY(memcached_upgrade, waits_for_a_writer_of_an_earlier_version)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_lock *upg = upgradeable(direct(&s, ""));
	dlock_hold *r = take(upg), *w = NULL;

	put_writer(&s, 0);
	CHECK_RC(dlock_upgrade(upg, r, 300, &w), DLOCK_EBUSY);
	CHECK(writer_is_there(&s));
	CHECK_OK(dlock_check(r));
	CHECK_INT(lab_memcached_do(s.server, NULL, 0,
				   with_key(&s, "delete %s", "lnx")),
		  ==, 0);
	CHECK_OK(dlock_upgrade(upg, r, patience_ms(), &w));
	give(w);
	give(r);
	dlock_lock_free(upg);
	scene_end(&s);
}
