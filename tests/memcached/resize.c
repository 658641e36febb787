/* SPDX-License-Identifier: Apache-2.0 */
/* Another number of permits, in the mark and in the items of the holders. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/protocol/limit.h"

#define MARK "sns.m"
#define OWNER "0123456789abcdef0123456789abcdef"

static void resize(dlock_lock *l, uint32_t n)
{
	CHECK_OK(dlock_semaphore_resize(l, n, patience_ms()));
}

static void has(dlock_lock *l, uint32_t limit, uint32_t held)
{
	struct dlock_permits n = { .size = sizeof(n) };

	CHECK_OK(dlock_semaphore_permits(l, &n, patience_ms()));
	CHECK_INT(n.limit, ==, limit);
	CHECK_INT(n.held, ==, held);
}

/* Return the limit that an item says; 0: there is no item. */
static uint32_t limit_of(const struct scene *s, const char *key)
{
	const char *at = strstr(scene_do(s, "get %s", key), "dlock1 ");

	for (int i = 0; at && i < 3; i++)
		at = strchr(at + 1, ' ');
	return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

static void drop_mark(const struct scene *s)
{
	scene_do(s, "delete %s", MARK);
}

/* Take the number back, as a client of an earlier version does. */
static void put_mark(const struct scene *s, int limit)
{
	char text[100];

	snprintf(text, sizeof(text), "dlock1 " OWNER " 0.1 %d 9999", limit);
	scene_put(s, "set", MARK, 600, text);
}

/* ---- The mark is lost ---------------------------------------------------- */

EITHER_WAY(memcached_resize, survives_the_mark)
{
	dlock_lock *one = semaphore(direct(&s, ""), "s", 1);
	dlock_lock *seven = semaphore(direct(&s, ""), "s", 7);
	dlock_hold *a = take(one), *b, *c;

	resize(one, 3);
	b = take(seven);
	drop_mark(&s);
	has(seven, 3, 2);
	c = take(seven);
	ask(one, 0, DLOCK_EBUSY);
	ask(seven, 0, DLOCK_EBUSY);
	drop_mark(&s);
	resize(one, 2);
	has(seven, 2, 3);
	give(a);
	ask(seven, 0, DLOCK_EBUSY);
	give(b);
	give(take(seven));
	give(c);
}

/* The holders from before know the number as well, once they are renewed. */
EITHER_WAY(memcached_resize, is_known_to_all_holders)
{
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_lock *three = semaphore(c, "s", 3);
	dlock_lock *seven = semaphore(direct(&s, ""), "s", 7);
	dlock_hold *a = take(three), *b;

	resize(three, 2);
	CHECK_INT(limit_of(&s, "sns.0"), ==, 3);
	EVENTUALLY(limit_of(&s, "sns.0") == dlki_memc_limit_set(2, 3));
	drop_mark(&s);
	EVENTUALLY(limit_of(&s, MARK) == dlki_memc_limit_set(2, 3));
	put_mark(&s, 3);
	ask(three, 0, DLOCK_EBUSY);
	EVENTUALLY(limit_of(&s, MARK) == dlki_memc_limit_set(2, 3));
	b = take(seven);
	ask(three, 0, DLOCK_EBUSY);
	CHECK_OK(dlock_check(a));
	give(a);
	give(b);
	/* Without a holder, the number is the next user's. */
	has(seven, 7, 0);
	b = take(three);
	CHECK_INT(limit_of(&s, MARK), ==, 3);
	give(b);
}

/* The operator's lease is shorter than the holder's. */
EITHER_WAY(memcached_resize, keeps_the_life_of_the_mark)
{
	dlock_lock *l = semaphore(direct(&s, "ttl=400s"), "s", 2);
	dlock_lock *quick = semaphore(direct(&s, "ttl=3s"), "s", 2);
	dlock_hold *h = take(l);

	CHECK_INT(mark_left_s(&s, MARK), >=, 1190);
	resize(quick, 3);
	CHECK_INT(mark_left_s(&s, MARK), >=, 1180);
	give(h);
}

EITHER_WAY(memcached_resize, leaves_a_foreign_mark)
{
	dlock_lock *l = semaphore(direct(&s, ""), "s", 2);
	dlock_hold *h = take(l);

	scene_do(&s, "set %s 0 0 5\r\nhello", MARK);
	CHECK_RC(dlock_semaphore_resize(l, 3, patience_ms()), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), key_of(&s, MARK));
	CHECK_RC(dlock_semaphore_resize(l, 1025, 0), DLOCK_ENOTSUP);
	CHECK_TEXT(dlock_errmsg(), "at most 1024 permits");
	give(h);
}

/* ---- Slots beyond the handle's ------------------------------------------- */

static dlock_hold *take_two(dlock_lock *l)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *h = NULL;

	o.permits = 2;
	o.timeout_ms = patience_ms();
	CHECK_OK(dlock_acquire_opts(l, &o, &h));
	return h;
}

EITHER_WAY(memcached_resize, finds_the_items_beyond)
{
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_lock *two = semaphore(c, "s", 2);
	dlock_lock *other = semaphore(direct(&s, "ttl=3s"), "s", 2);
	dlock_hold *a = take(other), *b = take(other), *several, *last;

	resize(two, 5);
	several = take_two(two);
	last = take(two);
	has(other, 5, 5);
	ALL_ALONG(dlock_ttl_ms(c) + 300, dlock_check(several) == DLOCK_OK &&
						 dlock_check(last) == DLOCK_OK);
	give(several);
	has(other, 5, 3);
	CHECK_OK(dlock_break(other, patience_ms()));
	has(two, 2, 0);
	CHECK_RC(dlock_release(last), DLOCK_ELOST);
	CHECK_RC(dlock_release(a), DLOCK_ELOST);
	CHECK_RC(dlock_release(b), DLOCK_ELOST);
}

/* Count the gets of an acquire and a release of a free lock. */
static uint64_t gets_of_a_pair(const struct scene *s, dlock_lock *l)
{
	uint64_t before = stat_of(s, "STAT cmd_get ");

	give(take(l));
	return stat_of(s, "STAT cmd_get ") - before;
}

/* Once the slots beyond are empty, clients get them no longer. */
EITHER_WAY(memcached_resize, gets_empty_slots_once)
{
	dlock_lock *l = semaphore(direct(&s, ""), "s", 2);
	dlock_hold *h = take(l);
	uint64_t usual = gets_of_a_pair(&s, l);

	resize(l, 900);
	CHECK_INT(gets_of_a_pair(&s, l), >=, 900);
	resize(l, 2);
	CHECK_INT(gets_of_a_pair(&s, l), >=, 900);
	CHECK_INT(gets_of_a_pair(&s, semaphore(direct(&s, ""), "s", 2)), ==,
		  usual);
	give(h);
}

/* ---- Meanwhile ----------------------------------------------------------- */

/* Set four permits, and take some. */
static void fill(dlock_lock *l, dlock_hold *h[4], int n)
{
	resize(l, 4);
	for (int i = 0; i < n; i++)
		h[i] = take(l);
}

/* A waiter reads the slots before `meanwhile`, and takes a slot behind. */
static void wait_meanwhile(const struct scene *s, dlock_lock *l,
			   dlock_hold *h[4],
			   void (*meanwhile)(dlock_lock *l, dlock_hold *h[4]))
{
	dlock_client *c = by_proxy(s, "ask=20s");
	struct taker w = { 0 };

	give(take(mutex(c, "y")));
	lab_proxy_hold(s->proxy, "add ");
	taker_start(&w, semaphore(c, "s", 2), 0);
	CHECK_INT(lab_proxy_wait(s->proxy, LAB_HELD, 1, patience_ms()), ==, 0);
	meanwhile(l, h);
	lab_proxy_deliver(s->proxy);
	CHECK_RC(taker_join(&w), DLOCK_EBUSY);
}

static void make_it_one(dlock_lock *l, dlock_hold *h[4])
{
	(void)h;
	resize(l, 1);
}

EITHER_WAY(memcached_resize, is_seen_after_the_slots)
{
	dlock_lock *l = semaphore(direct(&s, ""), "s", 2);
	dlock_hold *h = take(l);

	wait_meanwhile(&s, l, NULL, make_it_one);
	give(h);
}

/* The first slot is free, the others are held. */
static void make_it_four_and_two(dlock_lock *l, dlock_hold *h[4])
{
	fill(l, h, 3);
	give(h[0]);
	resize(l, 2);
}

/* The number is as before, and holders have come in by the other number. */
EITHER_WAY(memcached_resize, is_seen_though_undone)
{
	dlock_lock *l = semaphore(direct(&s, ""), "s", 2);
	dlock_hold *first = take(l), *h[4];

	fill(l, h, 3);
	give(first);
	give(h[0]);
	give(h[1]);
	resize(l, 2);
	first = h[2];
	wait_meanwhile(&s, l, h, make_it_four_and_two);
	has(l, 2, 3);
	give(first);
	give(h[1]);
	give(h[2]);
}

/* ---- The mark is written anew -------------------------------------------- */

enum { BEYOND = 70 };

/* Take slots from the first free slot on, and keep the last. */
static dlock_hold *take_beyond(dlock_lock *l)
{
	dlock_hold *h[BEYOND];

	for (int i = 0; i < BEYOND; i++)
		h[i] = take(l);
	for (int i = 0; i < BEYOND - 1; i++)
		give(h[i]);
	return h[BEYOND - 1];
}

/* A client acquires, and each write of the mark is held back. */
static void write_slowly(const struct scene *s, struct taker *w,
			 uint32_t permits)
{
	dlock_client *c = by_proxy(s, "ask=20s");

	give(take(mutex(c, "y")));
	lab_proxy_hold(s->proxy, "cas ");
	taker_start(w, semaphore(c, "s", permits), 0);
	CHECK_INT(lab_proxy_wait(s->proxy, LAB_HELD, 1, patience_ms()), ==, 0);
}

/* A slot is taken after the client has read the slots, and the client is
 * stopped behind the write. */
EITHER_WAY(memcached_resize, a_break_reaches_beyond_a_mark_just_written)
{
	dlock_lock *many = semaphore(direct(&s, ""), "s", 100);
	dlock_lock *two = semaphore(direct(&s, ""), "s", 2);
	struct taker w = { 0 };
	dlock_hold *last;

	give(take(many));
	write_slowly(&s, &w, 2);
	last = take_beyond(many);
	lab_proxy_hole(s.proxy, LAB_DOWN, true);
	lab_proxy_deliver(s.proxy);
	EVENTUALLY(limit_of(&s, MARK) == 2);
	ask(two, 0, DLOCK_EINVAL);
	CHECK_OK(dlock_break(two, patience_ms()));
	CHECK_RC(dlock_release(last), DLOCK_ELOST);
	lab_proxy_heal(s.proxy);
	CHECK_OK(taker_join(&w));
}

/* A client puts the number back behind a holder by the client's own number. */
EITHER_WAY(memcached_resize, a_number_put_back_hides_no_holder)
{
	dlock_lock *many = semaphore(direct(&s, ""), "s", 100);
	dlock_lock *two = semaphore(direct(&s, ""), "s", 2);
	struct taker w = { 0 };
	dlock_hold *first, *last;

	give(take(two));
	write_slowly(&s, &w, 100);
	first = take(two);
	lab_proxy_hold(s.proxy, "cas ");
	lab_proxy_deliver(s.proxy);
	CHECK_INT(lab_proxy_wait(s.proxy, LAB_HELD, 2, patience_ms()), ==, 0);
	give(first);
	last = take_beyond(many);
	lab_proxy_deliver(s.proxy);
	CHECK_RC(taker_join(&w), DLOCK_EINVAL);
	CHECK_INT(limit_of(&s, MARK), ==, 2);
	ask(two, 0, DLOCK_EINVAL);
	CHECK_OK(dlock_break(two, patience_ms()));
	CHECK_RC(dlock_release(last), DLOCK_ELOST);
	give(take(two));
}

EITHER_WAY(memcached_resize, all_slots_are_reached_without_a_mark)
{
	dlock_lock *two = semaphore(direct(&s, ""), "s", 2);
	dlock_hold *last = take_beyond(semaphore(direct(&s, ""), "s", 100));

	drop_mark(&s);
	has(two, 100, 1);
	CHECK_OK(dlock_break(two, patience_ms()));
	CHECK_RC(dlock_release(last), DLOCK_ELOST);
}
