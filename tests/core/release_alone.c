/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads release the holds of a client without threads. */
#include "core/fixture.h"

#include <pthread.h>

TestSuite(release_alone, .init = timed_fixture, .timeout = 60);

static void *release_one(void *h)
{
	OK(dlock_release(h));
	return NULL;
}

static pthread_t release_beside(dlock_hold *h)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, release_one, h), 0);
	return thread;
}

/* Nothing is to be done for the client meanwhile. */
CASE(release_alone, of_a_read_side_goes_on_once_the_write_side_is_released)
{
	pthread_t writes, reads;
	dlock_hold *h;
	dlk_time begun;

	options = (dlock_options)DLOCK_OPTIONS_INIT;
	options.no_threads = 1;
	given_rwlock("fake:?close=30s");
	OK(dlock_lock_unbind(lock));
	lock = upgradeable(lock);
	hold = take(lock);
	OK(dlock_upgrade(lock, hold, 0, &h));
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1);
	writes = release_beside(h);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	reads = release_beside(hold);
	EVENTUALLY(calls_under_way(client) == 2);
	begun = dlk_now();
	fake_open_gate(fake);
	pthread_join(writes, NULL);
	pthread_join(reads, NULL);
	cr_assert_lt(dlk_now(), late(begun + 1000 * DLK_MS));
}
