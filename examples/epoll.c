/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll NAME - an event loop that waits for a lock and never blocks, until its
 * standard input (a pipe or a terminal) ends.  A thread does the waiting, and
 * the hold comes through a pipe; so could what an on_event function is told.
 * The loop releases what the thread acquired: its holds belong to no thread.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sysexits.h>
#include <unistd.h>

static int loop, granted[2];

static void *wait_for_lock(void *lock)
{
	dlock_hold *hold;
	int rc = dlock_acquire(lock, -1, &hold);

	if (rc < 0 && rc != DLOCK_ECANCELED)
		errx(EX_UNAVAILABLE, "%s", dlock_errmsg());
	if (rc == DLOCK_OK && write(granted[1], &hold, sizeof(hold)) < 0)
		err(EX_OSERR, "write");
	return NULL;
}

static void watch(int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e) < 0)
		err(EX_OSERR, "epoll");
}

int main(int argc, char **argv)
{
	dlock_hold *hold = NULL;
	struct epoll_event e;
	dlock_client *client;
	dlock_lock *lock;
	pthread_t thread;
	int rc = DLOCK_OK;

	if (argc != 2 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... epoll NAME");
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0 ||
	    dlock_lock_unbind(lock) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	loop = epoll_create1(0);
	if (pipe2(granted, O_NONBLOCK) < 0)
		err(EX_OSERR, "pipe2");
	if (pthread_create(&thread, NULL, wait_for_lock, lock) != 0)
		errx(EX_OSERR, "no thread");
	watch(STDIN_FILENO);
	watch(granted[0]);
	/* Until there is an end of input, or the hold is lost. */
	while (epoll_wait(loop, &e, 1, -1) != 1 || e.data.fd == granted[0]) {
		if (read(granted[0], &hold, sizeof(hold)) != sizeof(hold))
			continue;
		watch(dlock_hold_fd(hold)); /* readable once it is lost */
		dprintf(STDOUT_FILENO, "holding\n");
	}
	if (hold)
		rc = dlock_release(hold);
	dprintf(STDOUT_FILENO, "%s\n", rc < 0 ? dlock_errmsg() : "ended");
	dlock_close(client); /* ends the wait, if it is still under way */
	pthread_join(thread, NULL);
	dlock_lock_free(lock);
	return rc < 0 ? EX_TEMPFAIL : 0;
}
