/* SPDX-License-Identifier: Apache-2.0 */
/* Does a hold with its terms do for an acquire with options? */
#include "core/terms.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct options {
	int64_t lease_ms, max_hold_ms;
	int no_renew;
	const char *label;
};

static struct dlki_terms *terms(const struct options *o)
{
	dlock_acquire_options given = DLOCK_ACQUIRE_OPTIONS_INIT;
	struct dlki_terms *made = NULL;
	struct dlk_error err;

	given.lease_ms = o->lease_ms;
	given.max_hold_ms = o->max_hold_ms;
	given.no_renew = o->no_renew;
	given.label = o->label;
	cr_assert_eq(dlki_terms_new(&made, &given, &err), 0);
	return made;
}

Test(terms, that_are_not_asked_for_do_not_matter)
{
	static const struct {
		struct options wanted, held;
		bool agree;
	} cases[] = {
		{ { 0 }, { 0 }, true },
		{ { 0 }, { 900, 5000, 1, "a" }, true },
		{ { .lease_ms = 900 }, { .lease_ms = 900 }, true },
		{ { .lease_ms = 900 }, { .lease_ms = 800 }, false },
		{ { .lease_ms = 900 }, { 0 }, false },
		{ { .max_hold_ms = 5000 }, { .max_hold_ms = 5000 }, true },
		{ { .max_hold_ms = 5000 }, { .max_hold_ms = 6000 }, false },
		{ { .max_hold_ms = 5000 }, { .lease_ms = 900 }, false },
		{ { .no_renew = 1 }, { .no_renew = 1 }, true },
		{ { .no_renew = 1 }, { .label = "a" }, false },
		{ { .label = "a" }, { .label = "a" }, true },
		{ { .label = "a" }, { .label = "b" }, false },
		{ { .label = "a" }, { .no_renew = 1 }, false },
		{ { 900, 5000, 1, "a" }, { 900, 5000, 1, "a" }, true },
		{ { 900, 5000, 1, "a" }, { 900, 5000, 1, "b" }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlki_terms *wanted = terms(&cases[i].wanted);
		struct dlki_terms *held = terms(&cases[i].held);

		cr_assert_eq(dlki_terms_agree(wanted, held), cases[i].agree,
			     "case %zu", i);
		free(wanted);
		free(held);
	}
}
