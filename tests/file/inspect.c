/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds and who waits; and which locks there are. */
#include "support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct seen {
	int holders, waiters, shared, nameless;
	uint64_t tokens; /* their sum */
	char labels[256];
};

static void look(const struct dlock_party *p, void *arg)
{
	struct seen *seen = arg;

	if (p->waiting)
		seen->waiters++;
	else
		seen->holders++;
	seen->shared += p->shared;
	seen->tokens += p->token;
	CHECK_INT(p->remaining_ms, ==, -1);
	seen->nameless += !*p->label;
	if (strlen(seen->labels) > sizeof(seen->labels) - 64)
		return;
	strncat(seen->labels, p->label, 60);
	strncat(seen->labels, ";", 2);
}

static struct seen inspect(dlock_lock *l)
{
	struct seen seen = { 0 };

	CHECK_OK(dlock_inspect(l, look, &seen, 1000));
	return seen;
}

static void *permit_of(void *lock)
{
	return take(lock, FOREVER);
}

/* A permit for whose holder the file has no record, because there are so many:
 * whoever got it after a wait has it, and waits no more. */
Test(file_inspect, tells_who_has_waited_from_who_waits)
{
	enum { PERMITS = 80 };
	dlock_hold *h[PERMITS], *other;
	dlock_client *a, *b;
	char dir[PATH_MAX];
	dlock_lock *la, *lb;
	struct dlock_stats st = { .size = sizeof(st) };
	pthread_t t;
	int i;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = semaphore(a, "x", PERMITS);
	lb = semaphore(b, "x", PERMITS);
	for (i = 0; i < PERMITS; i++)
		h[i] = take(la, 0);
	for (i = 0; i < PERMITS; i++) {
		CHECK(pthread_create(&t, NULL, permit_of, lb) == 0);
		EVENTUALLY(dlock_get_stats(b, &st) == 0 && st.waiters == 1);
		CHECK_OK(dlock_release(h[i]));
		CHECK(pthread_join(t, (void **)&other) == 0);
		CHECK_INT(inspect(la).waiters, ==, 0);
		CHECK_OK(dlock_release(other));
		h[i] = take(la, FOREVER);
	}
	for (i = 0; i < PERMITS; i++)
		CHECK_OK(dlock_release(h[i]));
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

/* A few of many permits are all told; and of more than there are records, that
 * there are others. */
Test(file_inspect, tells_the_few_who_hold_one_of_many)
{
	enum { CLIENTS = 10, PERMITS = 1000 };
	dlock_client *c[CLIENTS];
	dlock_lock *l[CLIENTS];
	dlock_hold *h[CLIENTS], *more[PERMITS - CLIENTS];
	char dir[PATH_MAX];
	int i;

	store_make(dir);
	for (i = 0; i < CLIENTS; i++) {
		c[i] = store_open(dir, "label=holder");
		l[i] = semaphore(c[i], "x", PERMITS);
		h[i] = take(l[i], 0);
		CHECK_INT(inspect(l[0]).holders, ==, i + 1);
	}
	for (i = 0; i < PERMITS / 2; i++)
		more[i] = take(l[0], FOREVER);
	CHECK_INT(inspect(l[0]).holders, >, CLIENTS);
	CHECK_INT(inspect(l[0]).nameless, ==, 1);
	for (i = 0; i < PERMITS / 2; i++)
		CHECK_OK(dlock_release(more[i]));
	CHECK_INT(inspect(l[0]).holders, ==, CLIENTS);
	for (i = 0; i < CLIENTS; i++) {
		CHECK_OK(dlock_release(h[i]));
		dlock_free(l[i]);
		dlock_close(c[i]);
	}
}

static void hold_labelled(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, "label=the-other");

	take(mutex(c, "x"), 0);
	take_shared(rwlock(c, "x"), 0);
	take(semaphore(c, "x", 4), 0);
	s->ready = 1;
	for (;;)
		pause();
}

Test(file_inspect, tells_the_living_from_the_dead)
{
	struct scene *s = scene();
	pid_t other = child(hold_labelled, s);
	dlock_client *c = store_open(s->dir, "label=me");
	dlock_lock *l[3] = { mutex(c, "x"), rwlock(c, "x"),
			     semaphore(c, "x", 4) };
	dlock_lock *never;
	dlock_hold *h;
	struct seen seen;
	int i;

	never = mutex(c, "never");
	CHECK_INT(inspect(never).holders, ==, 0);
	dlock_free(never);
	EVENTUALLY(s->ready);
	for (i = 0; i < 3; i++) {
		seen = inspect(l[i]);
		CHECK_INT(seen.holders, ==, 1);
		CHECK_INT(seen.shared, ==, i > 0);
		CHECK_TEXT(seen.labels, "the-other;");
		CHECK(seen.tokens > 0);
	}
	h = take(l[2], 0);
	seen = inspect(l[2]);
	CHECK_INT(seen.holders, ==, 2);
	CHECK_TEXT(seen.labels, "me;");
	CHECK(seen.tokens > dlock_token(h));
	CHECK_OK(dlock_release(h));
	child_kill(other);
	for (i = 0; i < 3; i++) {
		CHECK_INT(inspect(l[i]).holders, ==, 0);
		dlock_free(l[i]);
	}
	dlock_close(c);
}

/* Also where tokens were drawn by the batch: at once by the holder's client,
 * and by others at its next look at the file. */
Test(file_inspect, tells_the_exact_token)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, "ttl=300ms");
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = mutex(c, "x"), *m = mutex(d, "x");
	dlock_hold *h;
	int i;

	for (i = 0; i < 3000; i++)
		CHECK_OK(dlock_release(take(l, 0)));
	h = take(l, 0);
	CHECK(inspect(l).tokens == dlock_token(h));
	EVENTUALLY(inspect(m).tokens == dlock_token(h));
	CHECK_OK(dlock_release(h));
	h = take(m, 0);
	CHECK(inspect(l).tokens == dlock_token(h));
	CHECK_OK(dlock_release(h));
	dlock_free(l);
	dlock_free(m);
	dlock_close(c);
	dlock_close(d);
}

static void list_one(const struct dlock_entry *e, void *arg)
{
	char *text = arg;

	snprintf(text + strlen(text), 512 - strlen(text), "%s %s %u;", e->kind,
		 e->name, e->permits);
}

Test(file_inspect, tells_which_locks_there_are)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, "prefix=dlock.b");
	dlock_lock *l[4] = { mutex(c, "a/b c"), rwlock(c, "x"),
			     semaphore(c, "x", 7), mutex(d, "theirs") };
	char text[512] = "";
	int i;

	for (i = 0; i < 4; i++) {
		CHECK_OK(dlock_release(take(l[i], 0)));
		dlock_free(l[i]);
	}
	CHECK_OK(dlock_list(c, list_one, text, 1000));
	CHECK_TEXT(text, "mutex a/b c 0;");
	CHECK_TEXT(text, "rwlock x 0;");
	CHECK_TEXT(text, "semaphore x 7;");
	CHECK(!strstr(text, "theirs"));
	text[0] = '\0';
	CHECK_OK(dlock_list(d, list_one, text, 1000));
	CHECK(!strcmp(text, "mutex theirs 0;"));
	dlock_close(c);
	dlock_close(d);
}
