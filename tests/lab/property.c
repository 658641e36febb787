/* SPDX-License-Identifier: Apache-2.0 */
/* Random good histories, and a comparison of the checker with simpler
 * checkers. */
#include "lab/base/clock.h"
#include "lab/history/check.h"
#include "made.h"

#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lab_verdict v;
static struct story s;

#define LOCKS 8
#define PERMITS 5

static uint64_t random_state;

static uint64_t draw(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(2685821657736338717);
}

/* lo to hi inclusive */
static int64_t between(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(draw() % (uint64_t)(hi - lo + 1));
}

/* A lock of a store that never errs, on a virtual clock. */
struct lock {
	int64_t free[PERMITS]; /* when each place becomes free */
	uint64_t token;
	enum lab_mode mode;
	unsigned places;
	char name[16];
};

static void set_up(struct lock *locks)
{
	memset(locks, 0, LOCKS * sizeof(*locks));
	for (int i = 0; i < LOCKS; i++) {
		struct lock *l = &locks[i];

		l->mode = i < 4 ? LAB_MUTEX : i < 6 ? LAB_WRITE : LAB_PERMIT;
		l->places = l->mode == LAB_MUTEX  ? 1 :
			    l->mode == LAB_PERMIT ? (unsigned)(i - 3) :
						    PERMITS;
		snprintf(l->name, sizeof(l->name), "n%d", i);
	}
}

/* Draw the side, and return the time at which the store can grant. */
static int64_t grant(struct lock *l, struct lab_record *r, unsigned *place)
{
	int64_t at = 0;

	r->mode = (uint8_t)l->mode;
	r->limit = l->mode == LAB_PERMIT ? l->places : 0;
	*place = (unsigned)(draw() % l->places);
	if (l->mode == LAB_WRITE && draw() % 4)
		r->mode = LAB_READ;
	for (unsigned i = 0; i < l->places; i++)
		if (r->mode == LAB_WRITE && l->free[i] > at)
			at = l->free[i];
	if (r->mode != LAB_WRITE)
		at = l->free[*place];
	return at + between(0, 20);
}

static void occupy(struct lock *l, const struct lab_record *r, unsigned place,
		   int64_t until)
{
	for (unsigned i = 0; i < l->places; i++)
		if (i == place || r->mode == LAB_WRITE)
			l->free[i] = until;
}

/* Draw the rest of a granted hold, and return when the store has the lock
 * back. */
static int64_t end(struct story *s, struct lab_record *r, int64_t got)
{
	int64_t until = got + between(1, 1000);
	int64_t release = got + between(0, until - got - 1);
	int64_t back;

	tell_at(s, r, LAB_ACQUIRED, got, until, 0);
	if (draw() % 8 == 0) {
		release = until + between(0, 500);
		tell_at(s, r, LAB_LOST, until - between(0, 1), 0, 0);
		tell_at(s, r, LAB_RELEASE, release, 0, 0);
		tell_at(s, r, LAB_RELEASED, release + between(0, 9), 0,
			DLOCK_ELOST);
		return until;
	}
	if (draw() % 8 == 0) {
		tell_at(s, r, LAB_UNTIL, release, until + 1000, 0);
		until += 1000;
		release = between(release, until - 1);
	}
	if (draw() % 16 == 0)
		return until; /* forgotten */
	back = release + between(0, 10);
	tell_at(s, r, LAB_RELEASE, release, until, 0);
	tell_at(s, r, LAB_RELEASED, back + between(0, 10), 0, 0);
	return back;
}

static void one_hold(struct story *s, struct lock *l, uint64_t op)
{
	struct lab_record r = { .op = op };
	unsigned place;
	int64_t at;
	int64_t back;

	r.pid = r.tid = (uint32_t)op;
	memcpy(r.name, l->name, sizeof(l->name));
	at = grant(l, &r, &place);
	tell_at(s, &r, LAB_ACQUIRE, at - between(0, 300) + 1000, 0, 0);
	/* Times stay above 0: 0 is never. */
	if (draw() % 10 == 0) {
		tell_at(s, &r, LAB_ACQUIRED, at + 1000, 0, DLOCK_EUNREACHABLE);
		return;
	}
	r.token = ++l->token;
	back = end(s, &r, at + between(0, 30) + 1000) - 1000;
	occupy(l, &r, place, back);
}

static void good_history(struct story *s, size_t holds)
{
	static struct lock locks[LOCKS];

	s->count = 0;
	set_up(locks);
	for (size_t i = 0; i < holds; i++)
		one_hold(s, &locks[draw() % LOCKS], i + 1);
}

Test(property, good_histories_are_good)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		random_state = seed;
		good_history(&s, (size_t)between(1, 400));
		cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v),
			     0);
		cr_assert_eq(v.violations, 0, "seed %llu: %s",
			     (unsigned long long)seed, v.words[0]);
	}
	free(s.records);
}

/* Copy a random exclusive hold, and let the copy begin in the middle. */
Test(property, one_intruder_in_a_good_history_is_found)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct lab_record r;
		size_t at;

		random_state = seed;
		good_history(&s, 200);
		do {
			at = (size_t)between(0, (int64_t)s.count - 1);
			r = s.records[at];
		} while (r.what != LAB_ACQUIRED || r.rc || r.mode == LAB_READ ||
			 r.mode == LAB_PERMIT);
		r.op = 1000000;
		r.at++;
		r.until++;
		if (s.records[at + 1].op == s.records[at].op &&
		    s.records[at + 1].at <= r.at)
			continue;
		r.what = LAB_ACQUIRE;
		tell(&s, r);
		r.what = LAB_ACQUIRED;
		r.token = 1000000;
		tell(&s, r);
		cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v),
			     0);
		cr_assert_gt(v.broken[LAB_RULE_OVERLAP], 0, "seed %llu",
			     (unsigned long long)seed);
	}
	free(s.records);
}

#define SMALL 4
#define TIMES 9
#define LATEST (TIMES + 4)

struct small { /* holds of a lock, in the order of tokens */
	enum lab_mode mode;
	int asked, got, release;
	int granted, back; /* as tried by explained() */
};

static bool conflict(const struct small *a, const struct small *b)
{
	return a->mode != LAB_READ || b->mode != LAB_READ;
}

static bool overlap(const struct small *h)
{
	for (int i = 0; i < SMALL; i++)
		for (int j = 0; j < SMALL; j++)
			if (i != j && conflict(&h[i], &h[j]) &&
			    h[i].got < h[i].release &&
			    h[j].got < h[j].release && h[i].got <= h[j].got &&
			    h[j].got < h[i].release)
				return true;
	return false;
}

static bool falls(const struct small *h)
{
	for (int i = 0; i < SMALL; i++)
		for (int j = i + 1; j < SMALL; j++)
			if (conflict(&h[i], &h[j]) && h[j].got < h[i].asked)
				return true;
	return false;
}

/* Return whether hold `i` comes after all conflicting holds with smaller
 * tokens. */
static bool fits(const struct small *h, int i)
{
	for (int j = 0; j < i; j++)
		if (conflict(&h[i], &h[j]) && h[j].back > h[i].granted)
			return false;
	return true;
}

/* Try every moment for every acquire and release. */
static bool explained(struct small *h, int i)
{
	if (i == SMALL)
		return true;
	for (int a = h[i].asked; a <= h[i].got; a++) {
		h[i].granted = a;
		if (!fits(h, i))
			continue;
		for (int r = h[i].release; r <= LATEST; r++) {
			h[i].back = r;
			if (explained(h, i + 1))
				return true;
		}
	}
	return false;
}

struct seen { /* histories found bad, by kind */
	unsigned overlaps, falling, odd;
};

/* Draw a mutex's holds, or random readers and writers. */
static void draw_small(struct small h[SMALL], bool readers)
{
	for (int i = 0; i < SMALL; i++) {
		h[i].mode = !readers   ? LAB_MUTEX :
			    draw() % 2 ? LAB_READ :
					 LAB_WRITE;
		h[i].asked = (int)between(1, TIMES);
		h[i].got = (int)between(h[i].asked, TIMES);
		h[i].release = (int)between(h[i].got, h[i].got + 2);
	}
}

static void agree(struct story *s, struct small h[SMALL], struct seen *seen)
{
	struct lab_verdict v;
	bool linear = explained(h, 0);

	s->count = 0;
	for (unsigned i = 0; i < SMALL; i++)
		tell_made(s,
			  &(struct made){ .mode = h[i].mode,
					  .asked = h[i].asked,
					  .got = h[i].got,
					  .token = i + 1,
					  .release = h[i].release,
					  .released = 100 },
			  i + 1);
	cr_assert_eq(lab_check_records(s->records, s->count, NULL, &v), 0);
	cr_assert_eq(v.broken[LAB_RULE_OVERLAP] > 0, overlap(h));
	cr_assert_eq(v.broken[LAB_RULE_TOKEN] > 0, falls(h));
	cr_assert_eq(v.broken[LAB_RULE_LINEAR] > 0, !linear);
	seen->overlaps += overlap(h);
	seen->falling += falls(h);
	seen->odd += !linear && !overlap(h) && !falls(h);
}

static void agree_on_many(bool readers)
{
	struct seen seen = { 0, 0, 0 };
	struct small h[SMALL];
	struct story s = { 0 };

	random_state = 42;
	for (int n = 0; n < 20000; n++) {
		draw_small(h, readers);
		agree(&s, h, &seen);
	}
	free(s.records);
	/* All three checkers found bad histories, the third also histories that
	 * the other two did not find. */
	cr_expect_gt(seen.overlaps, 100);
	cr_expect_gt(seen.falling, 100);
	cr_expect_gt(seen.odd, 0, "%u %u %u", seen.overlaps, seen.falling,
		     seen.odd);
}

Test(property, agrees_with_simple_checkers_on_small_histories)
{
	agree_on_many(false);
}

Test(property, agrees_with_simple_checkers_where_some_are_readers)
{
	agree_on_many(true);
}

Test(property, a_million_operations, .timeout = 600)
{
	int64_t begin;
	int64_t took;

	random_state = 7;
	good_history(&s, 1000000);
	begin = lab_now();
	cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v), 0);
	took = lab_now() - begin;
	cr_expect_eq(v.violations, 0, "%s", v.words[0]);
	cr_expect_eq(v.acquires, 1000000);
	cr_log_info("%zu records judged in %lld ms", s.count,
		    (long long)(took / LAB_MS));
	/* A quick check takes seconds; a quadratic check takes far longer. */
	cr_expect_lt(took / LAB_MS, 60000);
	free(s.records);
}
