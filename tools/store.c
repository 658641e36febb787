/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"
#include "boottime.h"
#include "caps.h"
#include "conf.h"
#include "exits.h"
#include "message.h"
#include "password.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Everybody on this host can read a command line. */
void store_wipe_password(char *uri)
{
	if (password_hide(uri))
		say("a password on the command line is visible to other users: "
		    "set DLOCK_PASSWORD, or use the URI's password_file=");
}

static int no_store(const char *option)
{
	char *user = conf_user_path();

	if (option)
		say("which store?  -u is empty");
	else
		say("which store?  Neither -u nor $DLOCK_URI names one, nor "
		    "does a line \"uri = ...\" in %s%s" CONF_SYSTEM,
		    user ? user : "", user ? " or " : "");
	say("type -u file:///var/lock/app for locks of this host, or "
	    "-u redis://HOST:6379/0 for locks of many; `dlock backends` lists "
	    "the stores");
	free(user);
	return LEAVE_USAGE;
}

int store_choose(struct store *s, struct options *o)
{
	int status;

	memset(s, 0, sizeof(*s));
	status = setting_find(&s->uri, SETTING_URI, o->uri);
	if (status)
		return status;
	if (!s->uri.text || !*s->uri.text)
		return no_store(o->uri);
	if (o->uri)
		store_wipe_password(o->uri);
	return 0;
}

int store_require(struct store *s, const struct options *o)
{
	int status = setting_find(&s->require, SETTING_REQUIRE, o->require);

	if (status == 0 && s->require.text)
		status = caps_parse(s->require.text, s->require.from, &s->caps);
	return status;
}

static void explain_require(const struct store *s)
{
	char *names;

	if (!s->require.text)
		return;
	names = caps_text(s->caps);
	say("required of it: %s, by %s", names && *names ? names : "nothing",
	    s->require.from);
	free(names);
}

int store_explain(void)
{
	struct options none = { 0 };
	struct store s = { 0 };
	int status = setting_find(&s.uri, SETTING_URI, NULL);

	if (status == 0)
		status = store_require(&s, &none);
	if (status == 0 && s.uri.text) {
		password_hide(s.uri.text);
		say("the store is %s, from %s", s.uri.text, s.uri.from);
	} else if (status == 0) {
		no_store(NULL);
	}
	if (status == 0)
		explain_require(&s);
	store_close(&s);
	return status;
}

/* The last level of the library's lines that is printed. */
static int last_level;

static void on_log(const struct dlock_log_line *line, void *arg)
{
	(void)arg;
	if (line->level <= last_level)
		say("%s", line->text);
}

/* Warnings are about holds: a command that only looks at locks has no hold, and
 * prints them with -v. */
static int last_level_of(const struct options *o, int holds)
{
	if (o->verbose > 1)
		return INT_MAX;
	if (o->verbose)
		return 2;
	return holds ? 1 : 0;
}

/* Open the store within the user's wait: a store may become reachable.  Without
 * a wait, the library waits for as long as the URI says. */
static int open_by(struct store *s, const dlock_options *opts, int64_t wait_ms)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	int64_t began = boottime_now();
	int code;

	for (;;) {
		code = dlock_open(&s->client, s->uri.text, opts);
		if (code != DLOCK_EUNREACHABLE ||
		    (boottime_now() - began) / 1000000 >= wait_ms)
			return code;
		nanosleep(&pause, NULL);
	}
}

int store_open(struct store *s, const struct options *o,
	       dlock_event_fn on_event, void *arg)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;
	int code;

	opts.require = s->caps;
	opts.label = o->label;
	opts.password = secure_getenv("DLOCK_PASSWORD");
	opts.once = o->wait_ms >= 0;
	opts.on_event = on_event;
	opts.arg = arg;
	last_level = last_level_of(o, on_event != NULL);
	opts.on_log = on_log;
	code = open_by(s, &opts, o->wait_ms);
	if (code < 0) {
		s->client = NULL;
		code = fail_dlock(code);
		/* The command line does not show where these were. */
		if (!o->uri)
			say("the store is from %s", s->uri.from);
		if (s->caps)
			explain_require(s);
		return code;
	}
	if (o->verbose) {
		say("using %s, from %s", dlock_uri(s->client), s->uri.from);
		explain_require(s);
	}
	return 0;
}

int store_refuse_private(const struct store *s)
{
	if (strncmp(dlock_uri(s->client), "mem:", 4) != 0)
		return 0;
	return fail(LEAVE_NOTSUP,
		    "a mem: store is this process's own, so its locks would "
		    "exclude nobody (the store is from %s): use "
		    "file:///var/lock/app for this host",
		    s->uri.from);
}

int store_lock(dlock_lock **out, const struct store *s, const struct options *o,
	       const char *name)
{
	int code;

	switch (o->kind) {
	case KIND_SEMAPHORE:
		code = dlock_semaphore_new(out, s->client, name, o->permits);
		break;
	default:
		/* The same lock; but a store may have no read side. */
		code = o->shared ? dlock_rwlock_new(out, s->client, name) :
				   dlock_mutex_new(out, s->client, name);
	}
	return code < 0 ? fail_dlock(code) : 0;
}

void store_close(struct store *s)
{
	dlock_close(s->client);
	setting_free(&s->uri);
	setting_free(&s->require);
	memset(s, 0, sizeof(*s));
}
