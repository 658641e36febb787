/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libevent NAME - a loop of libevent that holds a lock until SIGTERM or the
 * loss, and never blocks, not even to open the store and to close it.
 */
#include <dlock/libevent.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

static struct event_base *loop;
static struct event *watcher, *lost;
static dlock_lock *lock;
static dlock_hold *hold;
static dlock_op op;
static int stopping, status;

static void closed(const struct dlock_result *r, void *arg)
{
	(void)r, (void)arg;
	dlock_libevent_stop(watcher);
	event_base_loopbreak(loop);
}

/* The acquire or the release is over. */
static void done(const struct dlock_result *r, void *word);

static void stop(evutil_socket_t fd, short what, void *client)
{
	(void)fd, (void)what;
	stopping = 1; /* the signal, or a loss */
	if (hold) {
		event_free(lost);
		if (dlock_release_start(hold, done, "released") < 0)
			errx(EX_OSERR, "%s", dlock_errmsg());
		hold = NULL;
	} else {
		dlock_cancel_op(client, op); /* or it is over, or to begin */
	}
}

static void done(const struct dlock_result *r, void *word)
{
	dprintf(1, "%s\n", r->code ? r->message : (char *)word);
	hold = r->hold;
	if (hold) {
		lost = event_new(loop, dlock_hold_fd(hold), EV_READ, stop,
				 r->client);
		event_add(lost, NULL);
		if (stopping)
			stop(-1, 0, r->client);
		return;
	}
	status = r->code && r->code != DLOCK_ECANCELED ? EX_TEMPFAIL : 0;
	if (dlock_close_start(r->client, closed, NULL) < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
}

static void opened(const struct dlock_result *r, void *name)
{
	if (r->code)
		errx(EX_CONFIG, "%s", r->message);
	if (dlock_mutex_new(&lock, r->client, name) < 0 ||
	    dlock_lock_unbind(lock) < 0 ||
	    dlock_acquire_start(lock, -1, done, "holding", &op) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	if (stopping)
		dlock_cancel_op(r->client, op);
}

int main(int argc, char **argv)
{
	const char *uri = getenv("DLOCK_URI");
	dlock_client *client;

	if (argc != 2 || !uri)
		errx(EX_USAGE, "usage: DLOCK_URI=... libevent NAME");
	loop = event_base_new();
	if (dlock_open_start(uri, NULL, &client, opened, argv[1]) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	watcher = dlock_libevent_start(loop, client);
	event_add(evsignal_new(loop, SIGTERM, stop, client), NULL);
	event_base_dispatch(loop);
	dlock_lock_free(lock);
	return status;
}
