/* SPDX-License-Identifier: Apache-2.0 */
#include "histories.h"
#include "lab/history/check.h"

#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lab_verdict v;
static struct story s;

static struct story made_of(const struct history *h)
{
	struct story s = { 0 };

	for (unsigned i = 0; i < HOLDS; i++)
		tell_made(&s, &h->holds[i], i + 1);
	for (int i = 0; i < EXTRAS && h->extras[i].what; i++) {
		const struct extra *e = &h->extras[i];
		struct lab_record r = { .what = (uint8_t)e->what };

		r.at = e->at * SCALE;
		r.value = e->value;
		if (e->what == LAB_WIPED)
			r.value *= SCALE;
		r.rc = e->rc;
		r.token = e->token;
		r.until = e->largest;
		if (e->name)
			snprintf(r.name, sizeof(r.name), "%s", e->name);
		tell(&s, r);
	}
	return s;
}

/* The first words name a broken rule. */
static bool says_why(const struct history *h, const struct lab_verdict *v)
{
	const char *name;

	for (int i = 0; i < LAB_NRULES; i++) {
		name = lab_rule_name((enum lab_rule)i);
		if (h->rules & 1U << i &&
		    strncmp(v->words[0], name, strlen(name)) == 0)
			return true;
	}
	return false;
}

static void judge(const struct history *h, const struct story *s)
{
	struct lab_verdict *v = malloc(sizeof(*v));

	cr_assert(v);
	cr_assert_eq(lab_check_records(s->records, s->count, &h->check, v), 0);
	for (int i = 0; i < LAB_NRULES; i++)
		cr_expect_eq(v->broken[i] != 0, (h->rules >> i & 1) != 0,
			     "%s: %s is %s: %s", h->title,
			     lab_rule_name((enum lab_rule)i),
			     v->broken[i] ? "broken" : "kept",
			     v->nwords ? v->words[0] : "");
	cr_expect_eq(v->nwords > 0, h->rules > 0);
	cr_expect_eq(says_why(h, v), h->rules > 0, "%s", v->words[0]);
	free(v);
}

static const struct history *const tables[] = { histories, histories_losses,
						histories_holders };
#define NTABLES (sizeof(tables) / sizeof(tables[0]))

Test(check, each_bad_history_is_rejected_for_its_reason_and_no_good_one)
{
	size_t bad = 0;
	size_t good = 0;
	struct story s;

	for (size_t t = 0; t < NTABLES; t++)
		for (const struct history *h = tables[t]; h->title; h++) {
			s = made_of(h);
			judge(h, &s);
			free(s.records);
			bad += h->rules != 0;
			good += h->rules == 0;
		}
	cr_expect_geq(bad, 30, "%zu", bad);
	cr_expect_geq(good, 20, "%zu", good);
}

Test(check, a_record_twice_is_noticed)
{
	static const struct made m = { HELD(1, 2, 10, 11, 5) };

	tell_made(&s, &m, 1);
	for (size_t i = 0; i < 4; i++) {
		tell(&s, s.records[i]);
		cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v),
			     0);
		cr_expect_eq(v.broken[LAB_RULE_SHAPE], i + 1, "record %zu", i);
	}
	free(s.records);
}

Test(check, counts_what_happened)
{
	static const struct made m[] = {
		{ HELD(1, 2, 10, 11, 5) },
		{ HELD(1, 12, 0, 0, 6), .until = 50, .lost = 53 },
		{ .asked = 1, .got = 3, .rc = DLOCK_EBUSY },
		{ .asked = 1, .got = 3, .rc = DLOCK_EUNREACHABLE },
		{ .asked = 1 },
		{ HELD(1, 60, 70, 71, 7), .until = 55 },
		{ .name = "b", HELD(1, 2, 10, 11, 5) },
	};
	char text[8192];

	for (unsigned i = 0; i < sizeof(m) / sizeof(m[0]); i++)
		tell_made(&s, &m[i], i + 1);
	cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v), 0);
	lab_verdict_print(&v, text, sizeof(text));
	cr_expect_eq(v.violations, 0, "%s", text);
	cr_expect_eq(v.records, s.count);
	cr_expect_eq(v.acquires, 7);
	cr_expect_eq(v.locks, 2);
	cr_expect_eq(v.granted, 4);
	cr_expect_eq(v.busy, 1);
	cr_expect_eq(v.unreachable, 1);
	cr_expect_eq(v.unanswered, 1);
	cr_expect_eq(v.released, 3);
	cr_expect_eq(v.lost, 1);
	cr_expect_eq(v.empty, 1);
	cr_expect_eq(v.late_ns, 3 * SCALE);
	cr_expect(strstr(text, "7 acquires of 2 locks: 4 granted"), "%s", text);
	free(s.records);
}

/* The time from the end of the wipe, without pauses. */
static int64_t found_of(struct made held)
{
	const struct history h = {
		"wiped",
		0,
		{ held },
		{ { LAB_WIPED, .at = 51, .value = 50, .rc = 1 },
		  { LAB_PAUSED, .at = 40, .value = 77 },
		  { LAB_RESUMED, .at = 60, .value = 77 },
		  { LAB_PAUSED, .at = 100, .value = 77 },
		  { LAB_RESUMED, .at = 130, .value = 77 } },
		{ 0 },
	};
	struct story s = made_of(&h);
	struct lab_verdict v;

	cr_assert_eq(lab_check_records(s.records, s.count, &h.check, &v), 0);
	cr_expect_eq(v.wiped, 1);
	free(s.records);
	return v.found_ns;
}

Test(check, a_wipe_is_found_when_the_holder_is_told)
{
	struct made told = { HELD(1, 2, 0, 0, 5), .until = 500, .lost = 150 };
	struct made over = { HELD(1, 2, 0, 0, 5), .until = 148, .lost = 150 };
	struct made stood = { HELD(1, 2, 0, 0, 5), .until = 500, .lost = 150,
			      .pid = 77 };
	struct made untold = { HELD(1, 2, 80, 81, 5), .until = 500 };

	cr_expect_eq(found_of(told), 99 * SCALE);
	cr_expect_eq(found_of(over), 99 * SCALE);
	cr_expect_eq(found_of(stood), 60 * SCALE);
	cr_expect_eq(found_of(untold), LAB_UNTOLD);
}

Test(check, keeps_hundreds_of_locks_apart)
{
	struct made m = { HELD(1, 2, 10, 11, 5) };
	char name[16];

	m.name = name;
	for (unsigned i = 1; i <= 500; i++) {
		snprintf(name, sizeof(name), "%u", i);
		tell_made(&s, &m, i);
	}
	cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v), 0);
	cr_expect_eq(v.locks, 500);
	cr_expect_eq(v.violations, 0, "%s", v.words[0]);
	free(s.records);
}

Test(check, keeps_the_first_words_and_counts_on)
{
	struct made m = { HELD(1, 2, 10, 11, 0) };
	char text[16384];

	for (unsigned i = 1; i <= 100; i++)
		tell_made(&s, &m, i);
	cr_assert_eq(lab_check_records(s.records, s.count, NULL, &v), 0);
	cr_expect_eq(v.broken[LAB_RULE_OVERLAP], 99);
	cr_expect_eq(v.nwords, LAB_WORDS);
	cr_expect(strstr(v.words[0], "mutex 'a' pid"), "%s", v.words[0]);
	lab_verdict_print(&v, text, sizeof(text));
	cr_expect(strstr(text, "OVERLAP: [mutex 'a'"), "%s", text);
	lab_verdict_print(&v, text, 100);
	cr_expect_eq(strlen(text), 99);
	free(s.records);
}
