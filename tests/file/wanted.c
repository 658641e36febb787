/* SPDX-License-Identifier: Apache-2.0 */
/* The holder's session is told of requests of other sessions. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/file/notify.h"
#include "support/ticket.h"

#define QUIET_MS 100

/* ---- Requests that tell, or do not --------------------------------------- */

/* A child forked between the open and the close of the announcement keeps no
 * descriptor of the lock file. */
static atomic_int forked;

static void *fork_and_stay(void *arg)
{
	pid_t pid = fork();

	(void)arg;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	forked = pid;
	CHECK(waitpid(pid, NULL, 0) == pid);
	return NULL;
}

static pthread_t forker;

/* The fork may have to wait until the descriptor is closed. */
static void fork_beside(void)
{
	before_close = NULL;
	CHECK(pthread_create(&forker, NULL, fork_and_stay, NULL) == 0);
	for (int i = 0; i < 50 && !forked; i++)
		nap_ms(1);
}

CASE(file_wanted, while_another_thread_forks)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *l = mutex(d, "x");
	struct ticket t;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	before_close = fork_beside;
	CHECK_RC(dlock_acquire(l, 0, &(dlock_hold *){ NULL }), DLOCK_EBUSY);
	CHECK(!before_close);
	EVENTUALLY(t.told && forked);
	CHECK(kill(forked, SIGKILL) == 0);
	CHECK(pthread_join(forker, NULL) == 0);
	ticket_give(&t);
}

CASE(file_wanted, not_if_it_is_not_watched)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *l = mutex(d, "x");
	struct ticket t;
	dlock_hold *h;

	ticket_take(&t, c);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	ALL_ALONG(QUIET_MS, !t.told);
	ticket_give(&t);
	/* A watch ends with the claim. */
	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	ticket_give(&t);
	CHECK_INT(ticket_ask(&t), ==, DLK_GRANTED);
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	ALL_ALONG(QUIET_MS, !t.told);
	ticket_give(&t);
}

CASE(file_wanted, not_by_its_own_session)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *l[2] = { mutex(c, "x"), mutex(d, "x") };
	struct ticket t, own[2];
	dlock_hold *h;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	/* The refusal's message names the holder. */
	CHECK_RC(dlock_acquire(l[0], 0, &h), DLOCK_EBUSY);
	ticket_make(&own[0], c, DLK_EXCLUSIVE);
	ticket_make(&own[1], c, DLK_SHARED);
	for (int i = 0; i < 2; i++)
		CHECK_INT(ticket_ask(&own[i]), ==, DLK_BUSY);
	CHECK_INT(ticket_watch(&t), ==, 0);
	ALL_ALONG(QUIET_MS, !t.told);
	CHECK_RC(dlock_acquire(l[1], 0, &h), DLOCK_EBUSY);
	EVENTUALLY(t.told);
	for (int i = 0; i < 2; i++)
		ticket_give(&own[i]);
	ticket_give(&t);
}

/* An event of a file that the session has closed makes the session look at all
 * files, and is no revoke. */
CASE(file_wanted, not_by_what_happens_to_other_files)
{
	const struct inotify_event gone = { .wd = -7, .mask = IN_ATTRIB };
	dlock_client *c = store_open(store_dir(), NULL);
	struct dlk_error err = { 0 };
	struct ticket t;

	ticket_make(&t, c, DLK_SHARED);
	t.base.request.kind = DLK_SEMAPHORE;
	t.base.request.limit = 2;
	CHECK_INT(ticket_ask(&t), ==, DLK_GRANTED);
	CHECK_INT(ticket_watch(&t), ==, 0);
	dlki_file_on_event(file_session(t.base.session), &gone);
	CHECK_INT(t.told, ==, 0);
	CHECK_OK(t.base.session->backend->revoke(
		t.base.session, &t.base.request, DLK_FOREVER, &err));
	EVENTUALLY(t.told == 1);
	ticket_give(&t);
}

/* ---- Earlier requests ---------------------------------------------------- */

/* After a wait, a client listens for no announcements. */
CASE(file_wanted, before_the_watch_began)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	dlock_client *c = store_open(dir, NULL);
	struct ticket first, second, third;

	ticket_take(&first, a);
	ticket_make(&second, b, DLK_EXCLUSIVE);
	ticket_make(&third, c, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(&second), ==, DLK_BUSY);
	CHECK_INT(ticket_ask(&third), ==, DLK_BUSY);
	CHECK_INT(ticket_watch(&first), ==, 1);
	ticket_give(&first);
	CHECK_INT(ticket_ask(&second), ==, DLK_GRANTED);
	CHECK_INT(ticket_watch(&second), ==, 1);
	ticket_give(&third);
	CHECK_INT(ticket_watch(&second), ==, 0);
	second.told = 0;
	CHECK_INT(ticket_ask(&third), ==, DLK_BUSY);
	EVENTUALLY(second.told);
	CHECK_INT(ticket_watch(&second), ==, 1);
	ticket_give(&second);
	ticket_give(&third);
}

/* If the session's own requests have all records of waiters, another session's
 * request has no record. */
CASE(file_wanted, perhaps_when_too_many_wait_to_tell)
{
	static struct ticket own[64];
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	struct ticket t, other;

	ticket_take(&t, c);
	for (int i = 0; i < 64; i++) {
		CHECK_INT(ticket_watch(&t), ==, 0);
		ticket_make(&own[i], c, DLK_EXCLUSIVE);
		CHECK_INT(ticket_ask(&own[i]), ==, DLK_BUSY);
	}
	ticket_make(&other, d, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(&other), ==, DLK_BUSY);
	CHECK_INT(ticket_watch(&t), ==, 1);
	for (int i = 0; i < 64; i++)
		ticket_give(&own[i]);
	ticket_give(&other);
	ticket_give(&t);
}

static void wait_and_die(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);

	EVENTUALLY(s->ready);
	take(mutex(c, "x"), FOREVER);
}

CASE(file_wanted, not_by_an_asker_that_was_killed)
{
	struct scene *s = scene();
	pid_t pid = child(wait_and_die, s);
	dlock_client *c = store_open(s->dir, NULL);
	struct ticket t;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	s->ready = 1;
	EVENTUALLY(t.told);
	CHECK_INT(ticket_watch(&t), ==, 1);
	child_kill(pid);
	EVENTUALLY(ticket_watch(&t) == 0);
	t.told = 0;
	ALL_ALONG(QUIET_MS, !t.told);
	ticket_give(&t);
}

/* ---- Without inotify ----------------------------------------------------- */

CASE(file_wanted, cannot_be_told_without_inotify)
{
	dlock_client *c;
	struct ticket t;

	fail_inotify = EMFILE;
	c = store_open(store_dir(), NULL);
	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, DLOCK_ENOTSUP);
	ticket_give(&t);
}

/* inotify is silent about waiters of other hosts. */
CASE(file_wanted, cannot_be_told_of_other_hosts)
{
	dlock_client *c = store_open(store_dir(), "remote=on");
	struct ticket t;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, DLOCK_ENOTSUP);
	ticket_give(&t);
}

/* inotify fails, and works later: `fail` is fail_inotify or fail_watch. */
static void told_later(atomic_int *fail, int errnum)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *l = mutex(d, "x");
	struct ticket t;

	*fail = errnum;
	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, DLOCK_ENOTSUP);
	*fail = 0;
	EVENTUALLY(ticket_watch(&t) == 0);
	CHECK_RC(dlock_acquire(l, 0, &(dlock_hold *){ NULL }), DLOCK_EBUSY);
	EVENTUALLY(t.told);
	ticket_give(&t);
}

CASE(file_wanted, when_a_descriptor_is_free_again)
{
	told_later(&fail_inotify, EMFILE);
}

CASE(file_wanted, when_a_watch_is_free_again)
{
	told_later(&fail_watch, ENOSPC);
}

/* The request polls, and so hears of no release; but the holder hears of the
 * request. */
CASE(file_wanted, by_an_asker_without_inotify)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	struct ticket t, other;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	fail_inotify = EMFILE;
	ticket_make(&other, d, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(&other), ==, DLK_BUSY);
	EVENTUALLY(t.told);
	ticket_give(&other);
	ticket_give(&t);
}
