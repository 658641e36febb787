/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of asynchronous calls of a client wait for a mutex, and ask again
 * faster than the server answers: all are granted. */
#include "support.h"

#include <criterion/criterion.h>
#include <dlock/async.h>

TestSuite(redis_crowd, .timeout = 240);

enum { N = 10000, MOST_MS = 60000 };

static int granted_calls;

static void on_grant(const struct dlock_result *r, void *arg)
{
	(void)arg;
	CHECK_OK(r->code);
	CHECK_OK(dlock_release_start(r->hold, NULL, NULL));
	granted_calls++;
}

static uint64_t polls_of(dlock_client *c)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	CHECK_OK(dlock_get_stats(c, &stats));
	return stats.polls;
}

/* Half of the calls have asked again when the lock is released. */
CASE(redis_crowd, calls_that_ask_again_delay_no_grant)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *holder = client_of(server->port, "ttl=60s", NULL);
	dlock_client *client = client_of(server->port, "ttl=3s", NULL);
	dlock_lock *held = mutex(holder, "m"), *lock = mutex(client, "m");
	dlock_hold *hold = take(held);

	CHECK_OK(dlock_lock_unbind(lock));
	for (int i = 0; i < N; i++)
		CHECK_OK(dlock_acquire_start(lock, -1, on_grant, NULL, NULL));
	while (polls_of(client) < N / 2)
		nap_ms(1);
	CHECK_OK(dlock_release(hold));
	while (granted_calls < N)
		CHECK_OK(dlock_wait(client, MOST_MS));
}
