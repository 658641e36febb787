/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of the checker with simpler checkers. */
#include "lab/history/check.h"
#include "made.h"

#include <criterion/criterion.h>
#include <stdlib.h>

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
