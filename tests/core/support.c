/* SPDX-License-Identifier: Apache-2.0 */
#include "core/support.h"

#include "core/client.h"

dlock_client *open_store(const char *uri, const dlock_options *opts)
{
	dlock_client *c = NULL;

	OK(fake_register());
	OK(dlock_open(&c, uri, opts));
	return c;
}

pthread_t thread_begin(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, run, arg), 0);
	return thread;
}

dlk_time late(dlk_time t)
{
	return t + (stalled_ms() + grace_ms()) * DLK_MS;
}

void close_within(dlock_client *client, int64_t most_ms)
{
	dlk_time began = dlk_now(), took;

	dlock_close(client);
	took = dlk_now() - began;
	cr_assert_leq(took, late(most_ms * DLK_MS), "closing took %lld ms",
		      (long long)(took / DLK_MS));
	cr_assert_null(fake_complaint(), "%s", fake_complaint());
}

void close_store(dlock_client *client)
{
	close_within(client, 5000);
}

int somebody_pumps(dlock_client *client)
{
	int yes;

	pthread_mutex_lock(&client->mu);
	yes = client->pump.at != NULL;
	pthread_mutex_unlock(&client->mu);
	return yes;
}
