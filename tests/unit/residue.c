/* SPDX-License-Identifier: Apache-2.0 */
/* What the store may have of a claim: the rows of docs/claim.md. */
#include "core/residue.h"

#include <criterion/criterion.h>

TestSuite(residue);

#define NONE DLKI_RESIDUE_NONE
#define STANDS DLKI_RESIDUE_STANDS
#define MAYBE DLKI_RESIDUE_MAYBE

static void expect_sending(struct dlk_ticket t, int failed,
			   enum dlki_sending sending)
{
	cr_expect_eq(dlki_sending_of(&t, failed), sending,
		     "code %d, settled %d, resent %d, crowded %d", failed,
		     t.settled, t.resent, t.crowded);
}

Test(residue, begins_with_what_became_of_a_request)
{
	const struct dlk_ticket plain = { 0 }, settled = { .settled = 1 },
				resent = { .resent = 1 },
				crowded = { .crowded = 1 };

	expect_sending(plain, 0, DLKI_ANSWERED);
	expect_sending(resent, 0, DLKI_UNANSWERED);
	expect_sending(plain, DLOCK_EUNREACHABLE, DLKI_UNANSWERED);
	expect_sending(plain, DLOCK_EPROTO, DLKI_UNANSWERED);
	expect_sending(settled, DLOCK_EUNREACHABLE, DLKI_UNSENT);
	expect_sending(resent, DLOCK_EINVAL, DLKI_UNANSWERED);
	expect_sending(crowded, DLOCK_EEXHAUSTED, DLKI_UNANSWERED);
}

Test(residue, of_a_refusal_is_what_stood_before_it)
{
	const int refusals[] = { DLOCK_EINVAL, DLOCK_EDENIED, DLOCK_ENOTSUP,
				 DLOCK_EEXHAUSTED };
	const struct dlk_ticket plain = { 0 };

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		expect_sending(plain, refusals[i], DLKI_ANSWERED);
}

/* Row: what there was; columns: unsent, answered, unanswered. */
Test(residue, of_an_attempt)
{
	static const enum dlki_residue after[][3] = {
		[NONE] = { NONE, STANDS, MAYBE },
		[STANDS] = { STANDS, STANDS, MAYBE },
		[MAYBE] = { MAYBE, MAYBE, MAYBE },
	};

	for (int was = NONE; was <= MAYBE; was++) {
		for (int s = DLKI_UNSENT; s <= DLKI_UNANSWERED; s++)
			cr_expect_eq(dlki_residue_asked(was, s), after[was][s],
				     "residue %d, sending %d", was, s);
	}
}
