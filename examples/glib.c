/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glib NAME - a main loop of GLib that holds a lock until SIGTERM, and never
 * blocks.  It hears of a loss by on_event, which comes in the loop as well.
 */
#include <dlock/glib.h>
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>

static GMainLoop *loop;
static dlock_hold *hold;
static dlock_op op;
static int ends, status;

/* The release is over, or the acquire without a hold. */
static void over(const struct dlock_result *r, void *word)
{
	g_print("%s\n", r->code ? r->message : (char *)word);
	if (r->code && r->code != DLOCK_ECANCELED)
		status = EX_TEMPFAIL;
	g_main_loop_quit(loop);
}

static gboolean end(gpointer client)
{
	ends = 1;
	if (!hold) {
		dlock_cancel_op(client, op); /* EINVAL once it is over */
		return G_SOURCE_CONTINUE;
	}
	if (dlock_release_start(hold, over, "released") < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
	hold = NULL;
	return G_SOURCE_CONTINUE;
}

static void granted(const struct dlock_result *r, void *arg)
{
	if (r->code) {
		over(r, arg);
		return;
	}
	g_print("holding\n");
	hold = r->hold;
	if (ends)
		end(r->client);
}

static void heard(dlock_hold *about, enum dlock_event event, const char *why,
		  void *arg)
{
	(void)why, (void)arg;
	if (event == DLOCK_LOST && about == hold)
		end(NULL);
}

int main(int argc, char **argv)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;
	const char *uri = getenv("DLOCK_URI");
	dlock_client *client;
	dlock_lock *lock;
	GSource *watcher;

	if (argc != 2 || !uri)
		errx(EX_USAGE, "usage: DLOCK_URI=... glib NAME");
	opts.on_event = heard;
	if (dlock_open(&client, uri, &opts) < 0 ||
	    dlock_events_by_process(client) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0 ||
	    dlock_lock_unbind(lock) < 0 ||
	    dlock_acquire_start(lock, -1, granted, NULL, &op) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	loop = g_main_loop_new(NULL, FALSE);
	g_unix_signal_add(SIGTERM, end, client);
	watcher = dlock_glib_start(NULL, client);
	g_main_loop_run(loop);
	dlock_glib_stop(watcher);
	dlock_lock_free(lock);
	dlock_close(client);
	return status;
}
