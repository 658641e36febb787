/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is started while clients want it: at boot, or after a stop. */
#include "support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_start, .timeout = 120);

struct opener {
	pthread_t thread;
	const char *uri;
	dlock_client *c;
	atomic_int tried, done;
	int rc;
};

static void note_try(const struct dlock_log_line *line, void *arg)
{
	struct opener *o = arg;

	if (strstr(line->text, "trying again"))
		atomic_store(&o->tried, 1);
}

static void *open_it(void *arg)
{
	struct opener *o = arg;
	dlock_options options = DLOCK_OPTIONS_INIT;

	options.on_log = note_try;
	options.arg = o;
	o->rc = dlock_open(&o->c, o->uri, &options);
	atomic_store(&o->done, 1);
	return NULL;
}

static struct lab_server *stopped_server(void)
{
	struct lab_server *s = server_start(NULL);

	if (lab_server_stop(s) < 0)
		FAIL("%s", lab_errmsg());
	return s;
}

static void start(struct lab_server *s)
{
	if (lab_server_restart(s, true) < 0)
		FAIL("%s", lab_errmsg());
}

CASE(redis_start, after_opening_has_begun_is_not_too_late)
{
	struct lab_server *s = stopped_server();
	struct opener o = { 0 };

	o.uri = uri_of(s->port, "connect=1m&ask=2s");
	CHECK(pthread_create(&o.thread, NULL, open_it, &o) == 0);
	EVENTUALLY(o.tried || o.done);
	CHECK(!o.done);
	start(s);
	pthread_join(o.thread, NULL);
	CHECK_OK(o.rc);
	give(take(mutex(closed_at_end(o.c), "x"), 0));
}

CASE(redis_start, after_a_wait_has_begun_is_not_too_late)
{
	struct lab_server *s = server_start(NULL);
	dlock_client *c = client_of(s->port, NULL, NULL);
	struct taker t = { 0 };
	uint64_t before;

	warm_up(c);
	if (lab_server_stop(s) < 0)
		FAIL("%s", lab_errmsg());
	before = stats(c).attempts;
	taker_start(&t, mutex(c, "x"), patience_ms());
	EVENTUALLY(stats(c).attempts >= before + 3);
	CHECK(!t.done);
	start(s);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
}

CASE(redis_start, that_comes_too_late_is_told_as_what_it_was)
{
	struct lab_server *s = server_start(NULL);
	dlock_client *c = client_of(s->port, NULL, NULL), *none = NULL;
	dlock_options once = DLOCK_OPTIONS_INIT;
	dlock_hold *h = NULL;
	dlock_lock *l;
	int64_t begin;

	warm_up(c);
	l = mutex(c, "x");
	if (lab_server_stop(s) < 0)
		FAIL("%s", lab_errmsg());
	CHECK_RC(dlock_acquire(l, 300, &h), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "Connection refused");
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "Connection refused");
	refused(uri_of(s->port, "connect=300ms"), DLOCK_EUNREACHABLE,
		"Connection refused; tried for 300ms: connect= in the URI");
	once.once = 1;
	begin = now_ms();
	CHECK_RC(dlock_open(&none, uri_of(s->port, "connect=1m"), &once),
		 DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "Connection refused");
	CHECK_INT(now_ms() - begin, <, 30000);
	start(s);
}
