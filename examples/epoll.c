/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll NAME - an event loop that holds a lock until SIGTERM, and never blocks:
 * it asks, cancels, releases, and hears of a loss between other events.
 */
#include <dlock/async.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sysexits.h>

static int loop, stopping, status = -1;
static dlock_hold *hold;

static void watch(int fd, unsigned int how)
{
	struct epoll_event e = { .events = EPOLLIN | how, .data.fd = fd };

	if (fd < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e) < 0)
		err(EX_OSERR, "epoll");
}

/* The acquire or the release is over. */
static void done(const struct dlock_result *r, void *arg)
{
	hold = r->hold;
	if (hold)
		watch(dlock_hold_fd(hold), EPOLLONESHOT); /* once it is lost */
	else
		status = r->code && r->code != DLOCK_ECANCELED ? EX_TEMPFAIL :
								 0;
	dprintf(1, "%s\n", r->code ? r->message : (char *)arg);
}

static void release(void)
{
	if (dlock_release_start(hold, done, "released") < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
	hold = NULL;
}

int main(int argc, char **argv)
{
	struct epoll_event e;
	dlock_client *client;
	dlock_lock *lock;
	dlock_op op;
	sigset_t term;
	int fd;

	if (argc != 2 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... epoll NAME");
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0 ||
	    dlock_lock_unbind(lock) < 0 ||
	    dlock_acquire_start(lock, -1, done, "holding", &op) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	loop = epoll_create1(0);
	watch(signalfd(-1, &term, 0), EPOLLONESHOT);
	watch(fd = dlock_client_fd(client), 0);
	while (status < 0) {
		if (epoll_wait(loop, &e, 1, -1) == 1 && e.data.fd != fd) {
			stopping = 1;                /* the signal, or a loss */
			dlock_cancel_op(client, op); /* or it is over */
		}
		(void)dlock_process(client, 0);
		if (hold && stopping)
			release();
	}
	dlock_lock_free(lock);
	dlock_close(client);
	return status;
}
