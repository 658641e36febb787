/* SPDX-License-Identifier: Apache-2.0 */
/* The mark by which a writer knows that a lock may have readers. */
#include "support.h"

#include <string.h>

#include "backends/memcached/protocol/item.h"

#define MARK "lnx.m"

static dlock_hold *read_x(dlock_client *c)
{
	return take_shared(rwlock(c, "x"), patience_ms());
}

static void delete_mark(const struct scene *s)
{
	CHECK_TEXT(scene_do(s, "delete %s", MARK), "DELETED");
}

EITHER_WAY(memcached_mark, outlives_the_longest_lease)
{
	dlock_client *slow = direct(&s, "ttl=400s");
	dlock_client *quick = direct(&s, "ttl=3s");
	dlock_hold *h = read_x(slow);

	CHECK_INT(mark_left_s(&s, MARK), >=, 1190);
	give(read_x(quick));
	CHECK_INT(mark_left_s(&s, MARK), >=, 1190);
	/* The nearest client renews the mark before the mark becomes too short.
	 */
	mark_ends_in(&s, MARK, 500);
	give(read_x(quick));
	CHECK_INT(mark_left_s(&s, MARK), <=, 500);
	give(read_x(direct(&s, "ttl=400s")));
	CHECK_INT(mark_left_s(&s, MARK), >=, 1190);
	give(h);
	mark_ends_in(&s, MARK, 200);
	give(read_x(quick));
	CHECK_INT(mark_left_s(&s, MARK), >=, 580);
}

EITHER_WAY(memcached_mark, is_kept_alive_by_renewals)
{
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_hold *h = read_x(c), *second = read_x(direct(&s, "ttl=3s"));

	mark_ends_in(&s, MARK, 5);
	EVENTUALLY(mark_left_s(&s, MARK) >= 580);
	ALL_ALONG(dlock_ttl_ms(c) / 3 + 300,
		  dlock_check(h) == DLOCK_OK &&
			  dlock_check(second) == DLOCK_OK);
	give(h);
	give(second);
}

/* A writer may have come in since; the next reader makes another mark. */
EITHER_WAY(memcached_mark, that_is_gone_ends_the_readers_hold)
{
	dlock_client *c = direct(&s, "ttl=3s"), *other = direct(&s, "ttl=3s");
	dlock_lock *l = mutex(other, "x");

	for (int made = 0; made < 2; made++) {
		dlock_hold *h = read_x(c), *next;
		int64_t since = now_ms();

		delete_mark(&s);
		next = made ? read_x(other) : take(l);
		CHECK(dlock_token(next) > dlock_token(h));
		found_lost(h, c, since);
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
		ALL_ALONG(dlock_ttl_ms(c) / 3 + 300,
			  dlock_check(next) == DLOCK_OK);
		give(next);
		give(take(l));
	}
}

/* The mark has the number of permits, and is made again. */
EITHER_WAY(memcached_mark, of_a_semaphore_ends_nobodys_hold)
{
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_hold *h = take(semaphore(c, "s", 2));

	scene_do(&s, "delete %s", "sns.m");
	EVENTUALLY(*scene_do(&s, "mg %s k", "sns.m") == 'H');
	CHECK_OK(dlock_check(h));
	give(h);
}

/* Another client stores the mark meanwhile, for a shorter life. */
EITHER_WAY(memcached_mark, of_a_semaphore_outlives_the_lease)
{
	dlock_client *slow = by_proxy(&s, "ttl=4000s&ask=20s");
	struct taker w = { .linger = 1 };

	give(take(semaphore(direct(&s, ""), "s", 2)));
	give(take(mutex(slow, "y")));
	lab_proxy_hold(s.proxy, "add ");
	taker_start(&w, semaphore(slow, "s", 2), patience_ms());
	CHECK_INT(lab_proxy_wait(s.proxy, LAB_HELD, 1, patience_ms()), ==, 0);
	give(take(semaphore(direct(&s, "ttl=900s"), "s", 2)));
	lab_proxy_deliver(s.proxy);
	EVENTUALLY(w.done);
	CHECK_RC(w.rc, DLOCK_OK);
	CHECK_INT(mark_left_s(&s, "sns.m"), >=, 4000);
	CHECK_RC(let_go(&w), DLOCK_OK);
}

EITHER_WAY(memcached_mark, that_is_foreign_is_left_by_renewals)
{
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_hold *h = take(semaphore(c, "s", 2));

	scene_put(&s, "set", "sns.m", 0, "hello");
	ALL_ALONG(dlock_ttl_ms(c) + 300,
		  dlock_check(h) == DLOCK_OK &&
			  strstr(scene_do(&s, "get %s", "sns.m"), "hello"));
	give(h);
}

/* A claim found by a second attempt needs the mark as well. */
EITHER_WAY(memcached_mark, is_looked_at_again_after_a_lost_reply)
{
	dlock_client *c = by_proxy(&s, "ttl=3s&ask=200ms");
	dlock_lock *l = mutex(direct(&s, ""), "x");

	give(take(mutex(c, "y")));
	for (int i = 0; i < 2; i++) {
		dlock_hold *h;

		lab_proxy_swallow(s.proxy, i ? "cas " : "add ", LAB_THEN_CLOSE);
		if (i)
			mark_ends_in(&s, MARK, 5);
		h = read_x(c);
		ask(l, 0, DLOCK_EBUSY);
		ALL_ALONG(dlock_ttl_ms(c) / 3 + 300,
			  dlock_check(h) == DLOCK_OK);
		give(h);
		give(take(l));
	}
}

/* A reader cannot rely on a foreign mark; the message names the key. */
EITHER_WAY(memcached_mark, that_no_dlock_wrote_is_told)
{
	dlock_lock *l = rwlock(direct(&s, ""), "x");
	dlock_hold *h = NULL;

	scene_do(&s, "set %s 0 0 5\r\nhello", MARK);
	CHECK_RC(dlock_acquire_shared(l, 0, &h), DLOCK_EBUSY);
	CHECK_TEXT(dlock_errmsg(), key_of(&s, MARK));
	give(take(mutex(direct(&s, ""), "x")));
}
