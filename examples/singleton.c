/* SPDX-License-Identifier: Apache-2.0 */
/*
 * singleton NAME - a daemon that works on a single host at a time.
 *
 * The others stand by: another takes over when the first ends, dies, or is
 * cut off from the store at $DLOCK_URI.  The work is a line a second, with the
 * token by which whatever it changes can refuse a daemon that should be gone.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

static void work(const dlock_hold *hold)
{
	printf("working, token %llu\n", (unsigned long long)dlock_token(hold));
}

/* Until the lock is lost.  The hold's descriptor wakes us at once; the rest of
 * the lease says when to stop, before the lease ends. */
static void serve(dlock_hold *hold)
{
	struct pollfd lost = { .fd = dlock_hold_fd(hold), .events = POLLIN };

	if (lost.fd < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
	for (;;) {
		int64_t warning = dlock_warning_ms(hold);

		if (dlock_remaining_ms(hold) < warning)
			return;
		work(hold);
		if (poll(&lost, 1, 1000) > 0)
			return;
	}
}

int main(int argc, char **argv)
{
	dlock_options options = DLOCK_OPTIONS_INIT;
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;

	if (argc != 2 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... singleton NAME");
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Where locks outlive the holder, only a person can free them. */
	options.require = DLOCK_CAP_EXPIRE;
	if (dlock_open(&client, getenv("DLOCK_URI"), &options) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	printf("standing by\n");
	if (dlock_acquire(lock, -1, &hold) < 0)
		errx(EX_UNAVAILABLE, "%s", dlock_errmsg());
	serve(hold);
	/* If it went on, there could be two: end, and be restarted. */
	if (dlock_release(hold) < 0)
		warnx("%s", dlock_errmsg());
	dlock_lock_free(lock);
	dlock_close(client);
	return EX_TEMPFAIL;
}
