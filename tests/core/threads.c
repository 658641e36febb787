/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process: how many there are for one client and for ten, and
 * who waits for whom. */
#include "core/fixture.h"

#include "support/census.h"

TestSuite(threads, .init = fixture, .timeout = 60);

enum { CLIENTS = 10 };

/* The renewer's call of one store does not come back: another store's holds are
 * renewed all the same, and losses are told. */
CASE(threads, of_a_store_that_is_stuck_are_its_own)
{
	struct fake *far = fake_store("far");
	dlock_lock *l;
	dlock_hold *h;
	size_t renewals;

	keep_diary();
	given_hold("fake:?ttl=900ms&close=500ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_SILENT,
		    .times = FAKE_ALWAYS);
	l = mutex(closed_at_end(open_store("fake://far?ttl=300ms", NULL)), "b");
	h = take(l);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) >= 1);
	renewals = fake_count(far, FAKE_RENEW);
	EVENTUALLY(atomic_load(&diary.losses) == 1);
	cr_assert_geq(fake_count(far, FAKE_RENEW), renewals + 2);
	OK(dlock_check(h));
	fake_clear(fake);
	EVENTUALLY(census_threads("dlock-work") == 1);
}
