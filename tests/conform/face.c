/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/face.h"

#include "conform/attending.h"

#include <dlock/async.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

/* ---- Owners -------------------------------------------------------------- */

/* The client of a handle or a hold. */
struct known {
	const void *what;
	dlock_client *client;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct known *known;
static size_t n_known, room;

/* With mu held. */
static struct known *find(const void *what)
{
	for (size_t i = 0; i < n_known; i++) {
		if (known[i].what == what)
			return &known[i];
	}
	return NULL;
}

/* Replaces a freed object at the same address. */
static void note(const void *what, dlock_client *client)
{
	struct known *k = find(what);

	if (k) {
		k->client = client;
		return;
	}
	if (n_known == room) {
		room = room ? 2 * room : 64;
		known = realloc(known, room * sizeof(known[0]));
		if (!known)
			FAIL("out of memory");
	}
	known[n_known++] = (struct known){ what, client };
}

void face_knows(dlock_lock *lock, dlock_client *client, const dlock_lock *first)
{
	if (!face_is_async())
		return;
	if (!first)
		CHECK_OK(dlock_lock_unbind(lock));
	pthread_mutex_lock(&mu);
	note(lock, first ? find(first)->client : client);
	pthread_mutex_unlock(&mu);
}

static dlock_client *client_of(const void *what)
{
	struct known *k;
	dlock_client *c;

	pthread_mutex_lock(&mu);
	k = find(what);
	if (!k)
		FAIL("the face does not know whose this is");
	c = k->client;
	pthread_mutex_unlock(&mu);
	return c;
}

/* Forget an ended hold. */
static void forget(const dlock_hold *hold)
{
	struct known *k;

	pthread_mutex_lock(&mu);
	k = find(hold);
	if (k)
		*k = known[--n_known];
	pthread_mutex_unlock(&mu);
}

/* ---- Processing ---------------------------------------------------------- */

/* A client with calls under way. */
static struct processed {
	dlock_client *client;
	int users;
	int taken;   /* a thread polls and processes */
	int closing; /* no other thread begins to */
} all_processed[64];

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

struct call {
	int over;
	int rc;
	dlock_hold *hold;
	char text[300];
};

static _Thread_local char last_text[300];

static void keep_text(const char *text)
{
	snprintf(last_text, sizeof(last_text), "%s", text);
}

/* With mu held. */
static struct processed *processed_of(dlock_client *c)
{
	struct processed *empty = NULL;

	for (size_t i = 0; i < sizeof(all_processed) / sizeof(all_processed[0]);
	     i++) {
		if (all_processed[i].client == c)
			return &all_processed[i];
		if (!all_processed[i].client && !empty)
			empty = &all_processed[i];
	}
	if (!empty)
		FAIL("too many clients");
	*empty = (struct processed){ .client = c };
	return empty;
}

static void ended(const struct dlock_result *r, void *arg)
{
	struct call *call = arg;

	pthread_mutex_lock(&mu);
	call->over++;
	call->rc = r->code;
	call->hold = r->hold;
	if (r->hold)
		note(r->hold, r->client);
	snprintf(call->text, sizeof(call->text), "%s", r->message);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mu);
}

/* With mu held. Releases mu while it waits. */
static void process_one(struct processed *s)
{
	struct pollfd p = { .events = POLLIN };
	int rc = 0;

	s->taken = 1;
	pthread_mutex_unlock(&mu);
	p.fd = dlock_client_fd(s->client);
	CHECK_INT(p.fd, >=, 0);
	if (poll(&p, 1, -1) == 1)
		rc = dlock_process(s->client, 1);
	CHECK_INT(rc, >=, 0);
	pthread_mutex_lock(&mu);
	s->taken = 0;
	pthread_cond_broadcast(&changed);
}

static void await(dlock_client *c, const struct call *call)
{
	struct processed *s;

	pthread_mutex_lock(&mu);
	s = processed_of(c);
	s->users++;
	while (call->over == 0) {
		if (s->taken || s->closing)
			pthread_cond_wait(&changed, &mu);
		else
			process_one(s);
	}
	if (--s->users == 0 && !s->closing)
		s->client = NULL;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mu);
	CHECK_INT(call->over, ==, 1);
	keep_text(call->text);
}

/* dlock_close() ends the calls under way. */
static void close_async(dlock_client *c)
{
	struct processed *s;

	pthread_mutex_lock(&mu);
	s = processed_of(c);
	s->closing = 1;
	while (s->taken) {
		CHECK_OK(dlock_nudge(c));
		pthread_cond_wait(&changed, &mu);
	}
	pthread_mutex_unlock(&mu);
	dlock_close(c);
	pthread_mutex_lock(&mu);
	while (s->users > 0)
		pthread_cond_wait(&changed, &mu);
	s->client = NULL;
	pthread_mutex_unlock(&mu);
}

/* ---- Open and close ------------------------------------------------------ */

void face_open(dlock_client **out, const char *uri, const dlock_options *opts)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	int attends;

	if (opts)
		o = *opts;
	attends = face_is("no-threads") && !o.no_threads;
	o.no_threads |= attends;
	CHECK_OK(dlock_open(out, uri, &o));
	if (attends)
		attending_begin(*out);
}

void close_face(dlock_client *c)
{
	if (face_is_async()) {
		close_async(c);
		return;
	}
	attending_end(c);
	dlock_close(c);
}

/* ---- The calls ----------------------------------------------------------- */

/* Wait for `call`, begun with the result `rc`, and return the result. */
static int end_of(struct call *call, int rc, const dlock_lock *lock,
		  dlock_hold **out)
{
	if (rc != DLOCK_OK) {
		keep_text(dlock_errmsg());
		return rc;
	}
	await(client_of(lock), call);
	if (call->rc == DLOCK_OK)
		*out = call->hold;
	return call->rc;
}

int acquire(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out)
{
	struct call call = { 0 };

	if (!face_is_async())
		return dlock_acquire(lock, timeout_ms, out);
	return end_of(&call,
		      dlock_acquire_start(lock, timeout_ms, ended, &call, NULL),
		      lock, out);
}

int acquire_shared(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out)
{
	struct call call = { 0 };

	if (!face_is_async())
		return dlock_acquire_shared(lock, timeout_ms, out);
	return end_of(&call,
		      dlock_acquire_shared_start(lock, timeout_ms, ended, &call,
						 NULL),
		      lock, out);
}

int acquire_opts(dlock_lock *lock, const dlock_acquire_options *o,
		 dlock_hold **out)
{
	struct call call = { 0 };

	if (!face_is_async())
		return dlock_acquire_opts(lock, o, out);
	return end_of(&call,
		      dlock_acquire_opts_start(lock, o, ended, &call, NULL),
		      lock, out);
}

/* A closed client refuses dlock_release_start(): release directly. */
int release(dlock_hold *hold)
{
	struct call call = { 0 };
	dlock_client *c;
	int rc;

	if (!face_is_async())
		return dlock_release(hold);
	c = client_of(hold);
	forget(hold);
	rc = dlock_release_start(hold, ended, &call);
	if (rc == DLOCK_ECANCELED) {
		rc = dlock_release(hold);
		keep_text(dlock_errmsg());
		return rc;
	}
	if (rc != DLOCK_OK) {
		keep_text(dlock_errmsg());
		pthread_mutex_lock(&mu);
		note(hold, c);
		pthread_mutex_unlock(&mu);
		return rc;
	}
	await(c, &call);
	return call.rc;
}

const char *face_errmsg(void)
{
	return face_is_async() ? last_text : dlock_errmsg();
}

int upgrade_by(dlock_lock *lock, dlock_hold *hold, int64_t timeout_ms,
	       dlock_hold **out)
{
	struct call call = { 0 };

	if (!face_is_async())
		return dlock_upgrade(lock, hold, timeout_ms, out);
	return end_of(&call,
		      dlock_upgrade_start(lock, hold, timeout_ms, ended, &call,
					  NULL),
		      lock, out);
}
