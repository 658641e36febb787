/* SPDX-License-Identifier: Apache-2.0 */
/* How long a wait in a call of the backend may last without a look. */
#include <dlock/backend.h>

#include <criterion/criterion.h>

#include "core/base/clock.h"
#include "core/base/patience.h"

Test(patience, a_slice_is_half_of_what_a_cancelled_call_may_take)
{
	static const struct {
		int64_t ask_ms;
		int64_t slice_ms;
	} cases[] = { { 200, 100 }, { 4, 10 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_Atomic uint64_t cancels = 0;
		struct dlki_patience p = { .cancels = &cancels,
					   .ask_ms = cases[i].ask_ms };
		dlk_time slice = cases[i].slice_ms * DLK_MS;
		dlk_time before, until, soon;

		dlki_patience_begin(&p);
		before = dlk_now();
		until = dlki_wait_slice(DLK_FOREVER);
		cr_assert_geq(until, before + slice);
		cr_assert_leq(until, dlk_now() + slice);
		soon = before + slice / 2;
		cr_assert_eq(dlki_wait_slice(soon), soon);
		dlki_patience_end(&p);
		cr_assert_eq(dlki_wait_slice(DLK_FOREVER), DLK_FOREVER);
	}
}
