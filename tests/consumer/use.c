/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign program, as C and C++: acquires and releases a lock. */
#include <dlock/backend.h>
#include <dlock/dlock.h>
#include <stdio.h>

static int fail(const char *doing)
{
	fprintf(stderr, "%s: %s\n", doing, dlock_errmsg());
	return 1;
}

int main(void)
{
	dlock_options options = DLOCK_OPTIONS_INIT;
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;

	options.require = DLOCK_CAP_FENCE;
	if (dlk_now() <= 0)
		return fail("dlk_now");
	if (dlock_open(&client, "mem:", &options) != DLOCK_OK)
		return fail("dlock_open");
	if (dlock_mutex_new(&lock, client, "consumer") != DLOCK_OK)
		return fail("dlock_mutex_new");
	if (dlock_acquire(lock, 1000, &hold) != DLOCK_OK)
		return fail("dlock_acquire");
	if (dlock_token(hold) == 0)
		return fail("dlock_token");
	if (dlock_release(hold) != DLOCK_OK)
		return fail("dlock_release");
	dlock_lock_free(lock);
	dlock_close(client);
	printf("dlock %s\n", dlock_version());
	return 0;
}
