/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leader NAME TERM_MS TERMS - stand for election, lead for a term, resign, and
 * stand again; end after so many terms.
 *
 * To resign is to release: another candidate leads at once.  It must come after
 * the last thing that was done as the leader, and a leader that was deposed
 * must not go on.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

/* For a term, or until deposed. */
static int lead(dlock_hold *hold, int term_ms)
{
	struct pollfd lost = { .fd = dlock_hold_fd(hold), .events = POLLIN };

	if (lost.fd < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
	printf("leading, token %llu\n", (unsigned long long)dlock_token(hold));
	poll(&lost, 1, term_ms);
	if (dlock_check(hold) == DLOCK_OK)
		printf("resigning\n");
	return dlock_release(hold);
}

int main(int argc, char **argv)
{
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;

	if (argc != 4 || !getenv("DLOCK_URI"))
		errx(EX_USAGE,
		     "usage: DLOCK_URI=... leader NAME TERM_MS TERMS");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	for (int term_ms = atoi(argv[2]), n = atoi(argv[3]); n > 0; n--) {
		if (dlock_acquire(lock, -1, &hold) < 0)
			errx(EX_UNAVAILABLE, "%s", dlock_errmsg());
		if (lead(hold, term_ms) == DLOCK_ELOST)
			printf("deposed: %s\n", dlock_errmsg());
		/* Not every store keeps an order: let another win. */
		if (n > 1 && !(dlock_caps(client) & DLOCK_CAP_FAIR))
			poll(NULL, 0, term_ms / 2);
	}
	dlock_lock_free(lock);
	dlock_close(client);
	return 0;
}
