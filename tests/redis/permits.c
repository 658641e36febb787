/* SPDX-License-Identifier: Apache-2.0 */
/* The set number of a semaphore, in the server. */
#include <criterion/criterion.h>
#include <string.h>

#include "redis/support.h"

TestSuite(redis_permits, .timeout = 120);

static struct lab_server *server;
static dlock_client *c, *d;
static dlock_lock *mine, *theirs;

static void set_up(void)
{
	server = two_start("ttl=30s", NULL, &c, &d);
	mine = semaphore(c, "s", 2);
	theirs = semaphore(d, "s", 2);
}

static void set_limit(uint32_t permits)
{
	CHECK_OK(dlock_semaphore_resize(theirs, permits, patience_ms()));
}

static void note_permits(const struct dlock_lock_info *entry, void *arg)
{
	if (strcmp(entry->name, "s") == 0)
		*(uint32_t *)arg = entry->permits;
}

CASE(redis_permits, that_were_set_are_listed_and_forgotten)
{
	uint32_t permits = 0;
	dlock_hold *h;

	set_up();
	h = take(mine, patience_ms());
	set_limit(5);
	CHECK_OK(dlock_list(d, note_permits, &permits, patience_ms()));
	CHECK_INT(permits, ==, 5);
	give(h);
	CHECK_RC(dlock_semaphore_resize(mine, 5, patience_ms()), DLOCK_EINVAL);
	h = take(mine, patience_ms());
	CHECK_OK(dlock_list(d, note_permits, &permits, patience_ms()));
	CHECK_INT(permits, ==, 2);
	give(h);
}

/* The holder died: the set number goes with the lease. */
CASE(redis_permits, that_were_set_do_not_outlive_the_last_lease)
{
	dlock_hold *h, *none = NULL;

	set_up();
	h = take(mine, patience_ms());
	set_limit(1);
	server_do(server, "ZADD dlock:{sns}:s 1 dead");
	server_do(server, "ZREMRANGEBYRANK dlock:{sns}:s 1 1");
	CHECK_RC(dlock_semaphore_resize(theirs, 1, patience_ms()),
		 DLOCK_EINVAL);
	CHECK_OK(dlock_acquire(theirs, 0, &none));
	CHECK_OK(dlock_release(none));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}
