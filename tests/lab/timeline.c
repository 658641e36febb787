/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of histories made by hand, with a fault at 1000 ms. */
#include "lab/scenarios/trial.h"
#include "histories.h"

#include <criterion/criterion.h>

#define FAULT 1000

TestSuite(timeline, .timeout = 60);

struct drawn {
	struct lab_trial trial;
	struct lab_findings *f;
	const struct lab_timeline *line;
};

static void draw(struct drawn *d, const struct made *made, size_t n)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct story story = { 0 };

	for (size_t i = 0; i < n; i++)
		tell_made(&story, &made[i], (unsigned)i + 1);
	*d = (struct drawn){ .f = lab_findings_new() };
	d->trial = (struct lab_trial){ .findings = d->f,
				       .mutex = &mutex,
				       .fault = "a fault",
				       .fault_from = FAULT * SCALE,
				       .fault_to = 2 * FAULT * SCALE,
				       .found_ms = -1 };
	cr_assert(lab_findings_store(d->f));
	cr_assert(lab_findings_scenario(d->f));
	lab_timeline_draw(&d->trial, story.records, story.count);
	cr_assert_eq(d->f->n_timelines, 1);
	d->line = d->f->timelines;
	free(story.records);
}

static void belief_is(const struct drawn *d, size_t i, double from, double to)
{
	const struct lab_belief *b = &d->line->beliefs[i];

	cr_assert_lt(i, d->line->n_beliefs, "belief %zu is not drawn", i);
	cr_assert_float_eq(b->from, from, 1e-6, "from %f", b->from);
	cr_assert_float_eq(b->to, to, 1e-6, "to %f", b->to);
}

/* The library tells that the lease is over, but not since when. */
Test(timeline, a_lease_that_is_over_ends_when_that_was_seen)
{
	static const struct made made[] = {
		{ HELD(900, 910, 0, 0, 0), .until = 2500, .again = 1700,
		  .until2 = -1, .lost = 1750 },
		{ HELD(900, 910, 0, 0, 0), .until = 1600, .again = 1700,
		  .until2 = -1, .lost = 1750, .name = "b" },
	};
	struct drawn d;

	draw(&d, made, 2);
	cr_assert_eq(d.line->n_beliefs, 2);
	belief_is(&d, 0, -90, 700);
	belief_is(&d, 1, -90, 600);
	cr_assert_eq(d.line->n_marks, 2);
	cr_assert_str_eq(d.line->marks[0].text, "LOST");
	cr_assert_eq(d.trial.found_ms, 750);
	lab_findings_free(d.f);
}

Test(timeline, a_belief_never_ends_before_it_begins)
{
	static const struct made made[] = {
		{ HELD(900, 910, 0, 0, 0), .until = 905, .lost = 950 },
		{ HELD(960, 970, 0, 0, 0), .until = 2000, .again = 980,
		  .until2 = 965, .lost = 1100 },
	};
	struct drawn d;

	draw(&d, made, 2);
	cr_assert_eq(d.line->n_beliefs, 2);
	belief_is(&d, 0, -90, -90);
	belief_is(&d, 1, -30, -30);
	lab_findings_free(d.f);
}

Test(timeline, holders_of_other_locks_do_not_overlap)
{
	static const struct made made[] = {
		{ HELD(900, 910, 1900, 0, 0), .name = "a" },
		{ HELD(900, 910, 1900, 0, 0), .name = "b" },
		{ HELD(900, 910, 1900, 0, 0), .name = "a", .mode = LAB_PERMIT,
		  .limit = 1 },
	};
	struct drawn d;

	draw(&d, made, 3);
	cr_assert_eq(d.line->n_beliefs, 3);
	cr_assert_eq(d.line->n_overlaps, 0);
	cr_assert_float_eq(d.trial.overlap_ms, 0, 1e-6);
	lab_findings_free(d.f);
}

Test(timeline, holders_of_one_lock_overlap_unless_they_share_it)
{
	static const struct made made[] = {
		{ HELD(900, 910, 1900, 0, 0) },
		{ HELD(900, 1400, 2000, 0, 0) },
		{ HELD(900, 910, 1900, 0, 0), .name = "b", .mode = LAB_READ },
		{ HELD(900, 910, 1900, 0, 0), .name = "b", .mode = LAB_READ },
		{ HELD(900, 1800, 2000, 0, 0), .name = "b", .mode = LAB_WRITE },
		/* A mutex and a write side are the same lock. */
		{ HELD(900, 1850, 1900, 0, 0), .name = "c" },
		{ HELD(900, 1880, 1950, 0, 0), .name = "c", .mode = LAB_WRITE },
	};
	struct drawn d;

	draw(&d, made, 7);
	cr_assert_eq(d.line->n_overlaps, 4);
	cr_assert_float_eq(d.line->overlaps[0].from, 400, 1e-6);
	cr_assert_float_eq(d.line->overlaps[0].to, 900, 1e-6);
	cr_assert_float_eq(d.line->overlaps[1].from, 800, 1e-6);
	cr_assert_float_eq(d.trial.overlap_ms, 500, 1e-6);
	lab_findings_free(d.f);
}
