/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sd-event NAME - an event loop of libsystemd that holds a lock until SIGTERM
 * or the loss, and never blocks.
 */
#include <dlock/sd-event.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

static sd_event *loop;
static dlock_client *client;
static dlock_hold *hold;
static dlock_op op;
static int ends;

/* The release is over, or the acquire without a hold. */
static void over(const struct dlock_result *r, void *word)
{
	int failed = r->code && r->code != DLOCK_ECANCELED;

	dprintf(1, "%s\n", r->code ? r->message : (char *)word);
	sd_event_exit(loop, failed ? EX_TEMPFAIL : 0);
}

static void end(void)
{
	dlock_hold *h = hold;

	ends = 1;
	hold = NULL;
	if (!h)
		dlock_cancel_op(client, op); /* EINVAL once it is over */
	else if (dlock_release_start(h, over, "released") < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
}

static int signalled(sd_event_source *s, const struct signalfd_siginfo *si,
		     void *arg)
{
	(void)s, (void)si, (void)arg;
	end();
	return 0;
}

static int lost(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	(void)fd, (void)events, (void)arg;
	sd_event_source_disable_unref(s);
	if (hold)
		end();
	return 0;
}

static void granted(const struct dlock_result *r, void *arg)
{
	sd_event_source *s;

	hold = r->hold;
	if (!hold) {
		over(r, arg);
		return;
	}
	dprintf(1, "holding\n");
	sd_event_add_io(loop, &s, dlock_hold_fd(hold), EPOLLIN, lost, NULL);
	if (ends)
		end();
}

int main(int argc, char **argv)
{
	sd_event_source *watcher;
	dlock_lock *lock;
	sigset_t term;
	int status;

	if (argc != 2 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... sd-event NAME");
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0 ||
	    dlock_lock_unbind(lock) < 0 ||
	    dlock_acquire_start(lock, -1, granted, NULL, &op) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	if (sd_event_new(&loop) < 0 ||
	    sd_event_add_signal(loop, NULL, SIGTERM, signalled, NULL) < 0 ||
	    dlock_sd_event_start(&watcher, loop, client) < 0)
		errx(EX_OSERR, "no loop");
	status = sd_event_loop(loop);
	dlock_sd_event_stop(watcher);
	dlock_lock_free(lock);
	dlock_close(client);
	return status;
}
