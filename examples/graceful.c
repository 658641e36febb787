/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graceful NAME - stops as it should on SIGTERM and SIGINT: while it waits for
 * the lock, at once; while it works, after the step at hand, and others get the
 * lock at once.  No signal handler may call dlock_cancel(); a thread does.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

static atomic_int stopping, ended;
static dlock_lock *lock;
static sigset_t signals;

/* dlock_cancel() leaves a wait alone that has not begun: repeat it. */
static void *take_signals(void *arg)
{
	int number;

	sigwait(&signals, &number);
	stopping = 1;
	while (!ended) {
		dlock_cancel(lock);
		poll(NULL, 0, 10);
	}
	return arg;
}

static void work(dlock_hold *hold)
{
	printf("working, token %llu\n", (unsigned long long)dlock_token(hold));
	while (!stopping && dlock_check(hold) == DLOCK_OK)
		poll(NULL, 0, 50); /* a step that is not to be interrupted */
	printf("last step done\n");
}

int main(int argc, char **argv)
{
	dlock_client *client;
	pthread_t thread;
	dlock_hold *hold;
	int rc;

	if (argc != 2 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... graceful NAME");
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	/* Before any other thread starts: all inherit it. */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	if (pthread_create(&thread, NULL, take_signals, NULL) != 0)
		errx(EX_OSERR, "no thread");
	printf("waiting\n");
	rc = dlock_acquire(lock, -1, &hold);
	if (rc == DLOCK_OK) {
		work(hold);
		rc = dlock_release(hold);
	}
	if (rc < 0)
		printf("%s: %s\n", dlock_errname(rc), dlock_errmsg());
	ended = 1;
	if (!stopping)
		pthread_kill(thread, SIGTERM);
	pthread_join(thread, NULL);
	dlock_lock_free(lock);
	dlock_close(client);
	return rc < 0 && rc != DLOCK_ECANCELED ? EX_TEMPFAIL : 0;
}
