/* SPDX-License-Identifier: Apache-2.0 */
/* The residue of a claim in the store: the rows of docs/claim.md. */
#include "core/residue.h"

#include <criterion/criterion.h>

TestSuite(residue);

static void expect_sending(struct dlk_ticket t, int failed,
			   enum dlki_sending sending)
{
	cr_expect_eq(dlki_sending_of(&t, failed), sending,
		     "code %d, settled %d, resent %d", failed, t.settled,
		     t.resent);
}

Test(residue, begins_with_what_became_of_a_request)
{
	const struct dlk_ticket plain = { 0 }, settled = { .settled = 1 },
				resent = { .resent = 1 };

	expect_sending(plain, 0, DLKI_SENDING_ANSWERED);
	expect_sending(resent, 0, DLKI_SENDING_UNANSWERED);
	expect_sending(plain, DLOCK_EUNREACHABLE, DLKI_SENDING_UNANSWERED);
	expect_sending(plain, DLOCK_EPROTO, DLKI_SENDING_UNANSWERED);
	expect_sending(settled, DLOCK_EUNREACHABLE, DLKI_SENDING_NONE);
	expect_sending(resent, DLOCK_EINVAL, DLKI_SENDING_UNANSWERED);
}

Test(residue, of_a_refusal_is_what_stood_before_it)
{
	const int refusals[] = { DLOCK_EINVAL, DLOCK_EDENIED, DLOCK_ENOTSUP,
				 DLOCK_EEXHAUSTED };
	const struct dlk_ticket plain = { 0 };

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		expect_sending(plain, refusals[i], DLKI_SENDING_ANSWERED);
}

/* ---- An attempt ---------------------------------------------------------- */

/* Rows: the residue before. Columns: unsent, answered, unanswered. */
Test(residue, of_an_attempt)
{
	static const enum dlki_left after[][3] = {
		[DLKI_NONE] = { DLKI_NONE, DLKI_STANDS, DLKI_MAYBE },
		[DLKI_STANDS] = { DLKI_STANDS, DLKI_STANDS, DLKI_MAYBE },
		[DLKI_MAYBE] = { DLKI_MAYBE, DLKI_MAYBE, DLKI_MAYBE },
	};

	for (enum dlki_left was = DLKI_NONE; was <= DLKI_MAYBE; was++) {
		for (enum dlki_sending s = DLKI_SENDING_NONE;
		     s <= DLKI_SENDING_UNANSWERED; s++) {
			struct dlki_claim_residue r = { .is = was, .until = 1 };

			dlki_residue_asked(&r, s, 7);
			cr_expect_eq(r.is, after[was][s], "%d, sending %d", was,
				     s);
			cr_expect_eq(r.until, 7);
		}
	}
}

/* ---- A release ----------------------------------------------------------- */

#define WINDOW 10 /* unless the row has `until` */

struct row {
	enum dlki_left was, is;
	enum dlki_claim_state before, after;
	bool confirmed;
	dlk_time until, now, took;
};

static void expect_row(const struct row *row, size_t i,
		       enum dlki_claim_state after,
		       const struct dlki_claim_residue *r)
{
	cr_expect_eq(after, row->after, "row %zu, %s from %d, at %d: %s", i,
		     dlki_claim_state_name(row->before), row->was,
		     (int)row->now, dlki_claim_state_name(after));
	cr_expect_eq(r->is, row->is, "row %zu, %s from %d, at %d: %d", i,
		     dlki_claim_state_name(row->before), row->was,
		     (int)row->now, r->is);
}

Test(residue, of_the_first_release)
{
	static const struct row rows[] = {
		{ .was = DLKI_NONE, .confirmed = true, .after = DLKI_GONE },
		{ .was = DLKI_STANDS, .confirmed = true, .after = DLKI_GONE },
		{ .was = DLKI_MAYBE,
		  .confirmed = true,
		  .after = DLKI_CLEANING },
		{ .was = DLKI_NONE, .after = DLKI_CLEANING },
		{ .was = DLKI_STANDS,
		  .after = DLKI_CLEANING,
		  .is = DLKI_STANDS },
		{ .was = DLKI_MAYBE, .after = DLKI_CLEANING, .is = DLKI_MAYBE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dlki_claim_residue r = { .is = rows[i].was, .until = 7 };

		expect_row(&rows[i], i,
			   dlki_residue_released(&r, rows[i].confirmed), &r);
		cr_expect_eq(r.until, 7);
	}
}

#define CLEANED(...)                                                           \
	{                                                                      \
		.before = DLKI_CLEANING, __VA_ARGS__                           \
	}
#define FOREVER .until = DLK_FOREVER

Test(residue, of_a_clean_up)
{
	static const struct row rows[] = {
		/* A claim that stood is gone with the answer. */
		CLEANED(.was = DLKI_STANDS, .now = 5, .confirmed = true,
			.after = DLKI_GONE),
		CLEANED(.was = DLKI_STANDS, .now = 5, .after = DLKI_CLEANING,
			.is = DLKI_STANDS),
		CLEANED(.was = DLKI_STANDS, .now = 10, .after = DLKI_GONE),
		/* For what may still arrive it goes on for the window. */
		CLEANED(.was = DLKI_MAYBE, .now = 5, .confirmed = true,
			.after = DLKI_CLEANING),
		CLEANED(.was = DLKI_NONE, .now = 9, .confirmed = true,
			.after = DLKI_CLEANING),
		CLEANED(.was = DLKI_NONE, .now = 9, .after = DLKI_CLEANING),
		CLEANED(.was = DLKI_NONE, .now = 10, .confirmed = true,
			.after = DLKI_GONE),
		CLEANED(.was = DLKI_MAYBE, .now = 9, .after = DLKI_CLEANING,
			.is = DLKI_MAYBE),
		CLEANED(.was = DLKI_MAYBE, .now = 10, .after = DLKI_GONE),
		CLEANED(.was = DLKI_MAYBE, .now = 10, .confirmed = true,
			.after = DLKI_GONE),
		/* Sent before the end of the window, and answered after: the
		 * claim may have arrived in between. */
		CLEANED(.was = DLKI_MAYBE, .now = 11, .took = 2,
			.confirmed = true, .after = DLKI_CLEANING),
		CLEANED(.was = DLKI_NONE, .now = 11, .took = 2,
			.confirmed = true, .after = DLKI_CLEANING),
		CLEANED(.was = DLKI_NONE, .now = 12, .took = 2,
			.confirmed = true, .after = DLKI_GONE),
		CLEANED(.was = DLKI_NONE, .now = 11, .took = 2,
			.after = DLKI_GONE),
		/* A window without an end: the first answer ends it. */
		CLEANED(.was = DLKI_MAYBE, FOREVER, .now = 5, .confirmed = true,
			.after = DLKI_GONE),
		CLEANED(.was = DLKI_NONE, FOREVER, .now = 5, .confirmed = true,
			.after = DLKI_GONE),
		CLEANED(.was = DLKI_STANDS, FOREVER, .now = 5,
			.after = DLKI_CLEANING, .is = DLKI_STANDS),
		/* The release was answered meanwhile. */
		{ .before = DLKI_RELEASING, .now = 5, .after = DLKI_GONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		dlk_time until = row->until ? row->until : WINDOW;
		struct dlki_claim_residue r = { .is = row->was,
						.until = until };

		expect_row(row, i,
			   dlki_residue_cleaned(&r, row->before, row->confirmed,
						row->now - row->took, row->now),
			   &r);
	}
}
