/* SPDX-License-Identifier: Apache-2.0 */
/* How long a wait in a call of the backend may last without a look. */
#include <dlock/backend_net.h>

#include <criterion/criterion.h>

#include "core/base/clock.h"
#include "core/base/patience.h"

Test(patience, a_slice_depends_on_the_crowd)
{
	static const struct {
		int64_t ask_ms;
		size_t crowd;
		int64_t slice_ms;
	} cases[] = {
		{ 200, 1, 100 },  /* half of what a cancelled call may take */
		{ 4, 1, 10 },     /* ... but not all the time */
		{ 4, 1000, 100 }, /* 10,000 looks a second */
		{ 200, 5000, 500 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_Atomic uint64_t cancels = 0;
		struct dlki_patience p = { .cancels = &cancels,
					   .ask_ms = cases[i].ask_ms };
		dlk_time slice = cases[i].slice_ms * DLK_MS;
		dlk_time before, until, soon;

		dlki_patience_begin(&p);
		before = dlk_now();
		until = dlk_wait_slice(DLK_FOREVER, cases[i].crowd);
		cr_assert_geq(until, before + slice);
		cr_assert_leq(until, dlk_now() + slice);
		soon = before + slice / 2;
		cr_assert_eq(dlk_wait_slice(soon, cases[i].crowd), soon);
		dlki_patience_end(&p);
		cr_assert_eq(dlk_wait_slice(DLK_FOREVER, cases[i].crowd),
			     DLK_FOREVER);
	}
}
