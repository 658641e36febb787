/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rehearse - how a program tests the use of locks: the store is a parameter,
 * and mem: is a store without a server, with faults on request.
 */
#include <dlock/dlock.h>
#include <poll.h>
#include <stdio.h>

enum outcome { DONE, BUSY, NO_STORE, STOPPED };

/* The function under test: a job of so many steps of 10 ms. */
static enum outcome nightly(const char *uri, int steps)
{
	enum outcome outcome = DONE;
	dlock_lock *lock = NULL;
	dlock_client *client;
	dlock_hold *hold;
	int rc;

	if (dlock_open(&client, uri, NULL) < 0)
		return NO_STORE;
	rc = dlock_mutex_new(&lock, client, "nightly");
	if (rc == DLOCK_OK)
		rc = dlock_acquire(lock, 20, &hold);
	if (rc < 0)
		outcome = rc == DLOCK_EBUSY ? BUSY : NO_STORE;
	while (rc == DLOCK_OK && steps-- > 0 && outcome == DONE) {
		poll(NULL, 0, 10);
		if (dlock_check(hold) != DLOCK_OK)
			outcome = STOPPED;
	}
	if (rc == DLOCK_OK && dlock_release(hold) == DLOCK_ELOST)
		outcome = STOPPED;
	dlock_lock_free(lock);
	dlock_close(client);
	return outcome;
}

static int expect(const char *what, enum outcome got, enum outcome wanted)
{
	printf("%s: %s\n", got == wanted ? "PASS" : "FAIL", what);
	return got != wanted;
}

/* Another client of the same mem: holds the lock meanwhile. */
static int test_busy(void)
{
	dlock_client *other;
	dlock_lock *lock;
	dlock_hold *hold;
	int failed;

	if (dlock_open(&other, "mem:", NULL) < 0 ||
	    dlock_mutex_new(&lock, other, "nightly") < 0 ||
	    dlock_acquire(lock, 0, &hold) < 0)
		return 1;
	failed = expect("another one runs", nightly("mem:", 1), BUSY);
	dlock_release(hold);
	dlock_lock_free(lock);
	dlock_close(other);
	return failed;
}

int main(void)
{
	int failed = test_busy();

	failed += expect("all is well", nightly("mem:", 3), DONE);
	failed += expect("the store does not answer",
			 nightly("mem:?refuse=100", 3), NO_STORE);
	failed += expect("the store is slow", nightly("mem:?delay=5s", 3),
			 NO_STORE);
	failed += expect("the lock is lost in the middle",
			 nightly("mem:?lose=30ms", 1000), STOPPED);
	return failed != 0;
}
