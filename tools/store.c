/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"
#include "exits.h"
#include "message.h"
#include "rundir.h"

#include <stdlib.h>
#include <string.h>

/* The password of a URI, from after the ':' to before the '@'; NULL if none. */
static char *find_password(char *uri, size_t *length)
{
	char *start = strstr(uri, "://"), *colon, *at;
	size_t n;

	if (!start)
		return NULL;
	start += 3;
	n = strcspn(start, "/?#");
	at = memrchr(start, '@', n);
	if (!at)
		return NULL;
	colon = memchr(start, ':', (size_t)(at - start));
	if (!colon)
		return NULL;
	*length = (size_t)(at - colon) - 1;
	return *length ? colon + 1 : NULL;
}

/* Everybody on this host can read a command line. */
void store_wipe_password(char *uri)
{
	size_t length;
	char *password = find_password(uri, &length);

	if (!password)
		return;
	for (size_t i = 0; i < length; i++)
		password[i] = '*';
	say("a password on the command line can be seen by others: set "
	    "DLOCK_PASSWORD, or use the URI's password_file=");
}

int store_choose(struct store *s, struct options *o)
{
	const char *env = secure_getenv("DLOCK_URI");

	memset(s, 0, sizeof(*s));
	if (!o->uri && (!env || !*env))
		return rundir_uri(&s->uri);
	s->uri = strdup(o->uri ? o->uri : env);
	if (o->uri)
		store_wipe_password(o->uri);
	return s->uri ? 0 : fail(LEAVE_SYSTEM, "out of memory");
}

static void log_most(int level, const char *text, void *arg)
{
	(void)arg;
	if (level <= 2)
		say("%s", text);
}

static void log_all(int level, const char *text, void *arg)
{
	(void)level;
	(void)arg;
	say("%s", text);
}

static void log_warnings(int level, const char *text, void *arg)
{
	(void)arg;
	if (level <= 1)
		say("%s", text);
}

int store_open(struct store *s, const struct options *o,
	       dlock_event_fn on_event, void *arg)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;
	int code;

	opts.label = o->label;
	opts.password = secure_getenv("DLOCK_PASSWORD");
	opts.on_event = on_event;
	opts.arg = arg;
	opts.on_log = o->verbose > 1 ? log_all :
		      o->verbose     ? log_most :
				       log_warnings;
	code = dlock_open(&s->client, s->uri, &opts);
	if (code < 0) {
		s->client = NULL;
		return fail_dlock(code);
	}
	if (o->verbose)
		say("using %s", dlock_uri(s->client));
	return 0;
}

int store_lock(dlock_lock **out, const struct store *s, const struct options *o,
	       const char *name)
{
	int code;

	switch (o->kind) {
	case KIND_MUTEX:
		code = dlock_mutex_new(out, s->client, name);
		break;
	case KIND_SEMAPHORE:
		code = dlock_semaphore_new(out, s->client, name, o->permits);
		break;
	default:
		/* Plain and -s must exclude each other, as they do with
		 * flock(1); to fall back on a mutex would take that away
		 * without a word. */
		if (!(dlock_caps(s->client) & DLOCK_CAP_SHARED))
			return fail(LEAVE_NOTSUP,
				    "%s has no read-write "
				    "locks, which dlock uses unless told "
				    "otherwise: use -m for a mutex",
				    dlock_uri(s->client));
		code = dlock_rwlock_new(out, s->client, name);
	}
	return code < 0 ? fail_dlock(code) : 0;
}

void store_close(struct store *s)
{
	dlock_close(s->client);
	if (s->uri)
		explicit_bzero(s->uri, strlen(s->uri));
	free(s->uri);
	memset(s, 0, sizeof(*s));
}
