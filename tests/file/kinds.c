/* SPDX-License-Identifier: Apache-2.0 */
/* Readers, writers, permits; who holds, and which locks there are. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backends/file/file.h"

struct scene {
	char dir[PATH_MAX];
	atomic_int ready, stop, reading, has, inside, most;
};

static struct scene *scene(void)
{
	struct scene *s = shared(sizeof(*s));

	store_make(s->dir);
	return s;
}

/* ---- Readers and writers ------------------------------------------------- */

/* Two of these leave no moment without a reader, if they may. */
static void read_all_the_time(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x");
	dlock_hold *h;

	while (!s->stop) {
		h = take_shared(l, FOREVER);
		s->reading++;
		s->ready++;
		nap_ms(2);
		/* Overlap: hold on until another is in, if one can get in. */
		for (int i = 0; i < 5 && s->reading < 2 && !s->stop; i++)
			nap_ms(1);
		s->reading--;
		CHECK_OK(dlock_release(h));
	}
	dlock_free(l);
	dlock_close(c);
}

Test(file_kinds, a_writer_does_not_starve)
{
	struct scene *s = scene();
	pid_t reader[3];
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;
	int i;

	for (i = 0; i < 3; i++)
		reader[i] = child(read_all_the_time, s);
	c = store_open(s->dir, NULL);
	l = rwlock(c, "x");
	EVENTUALLY(s->ready > 10);
	for (i = 0; i < 20; i++) {
		h = take(l, 2000 * slowness());
		CHECK_INT(s->reading, ==, 0);
		CHECK_OK(dlock_release(h));
	}
	s->stop = 1;
	for (i = 0; i < 3; i++)
		child_ended(reader[i]);
	dlock_free(l);
	dlock_close(c);
}

static void wait_to_write(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x");

	EVENTUALLY(s->reading);
	take(l, FOREVER);
	s->has = 1;
	for (;;)
		pause();
}

/* How long a reader waits when the writer before it has died. */
static int64_t before_readers(struct scene *s, dlock_lock *l, dlock_lock *m)
{
	pid_t writer = child(wait_to_write, s);
	dlock_hold *h = take_shared(l, 0), *h2;
	int64_t begin, took;
	int i;

	s->reading = 1;
	for (i = 0; dlock_acquire_shared(m, 0, &h2) == DLOCK_OK; i++) {
		CHECK_OK(dlock_release(h2));
		CHECK_INT(i, <, 1000);
		nap_ms(10);
	}
	CHECK(kill(writer, SIGSTOP) == 0);
	CHECK_OK(dlock_release(h));
	CHECK_OK(dlock_release(take_shared(m, 10000)));
	CHECK(!s->has);
	CHECK(kill(writer, SIGCONT) == 0);
	EVENTUALLY(s->has);
	child_kill(writer);
	begin = now_ms();
	h = take_shared(m, patience_ms());
	took = now_ms() - begin;
	CHECK_OK(dlock_release(h));
	s->reading = s->has = 0;
	return took;
}

/* Readers that pass a writer that is stopped share the lock with each other;
 * and the writer has its turn once the first of them is gone. */
Test(file_kinds, readers_pass_a_stopped_writer_together)
{
	struct scene *s = scene();
	pid_t writer = child(wait_to_write, s);
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x"), *m = rwlock(d, "x");
	dlock_hold *h = take_shared(l, 0), *h2;
	int i;

	s->reading = 1;
	for (i = 0; dlock_acquire_shared(m, 0, &h2) == DLOCK_OK; i++) {
		CHECK_OK(dlock_release(h2));
		CHECK_INT(i, <, 1000);
		nap_ms(10);
	}
	CHECK(kill(writer, SIGSTOP) == 0);
	CHECK_OK(dlock_release(h));
	h = take_shared(l, patience_ms());
	h2 = take_shared(m, 0);
	CHECK(kill(writer, SIGCONT) == 0);
	CHECK_OK(dlock_release(h));
	CHECK_RC(dlock_acquire_shared(l, 0, &h), DLOCK_EBUSY);
	CHECK(!s->has);
	CHECK_OK(dlock_release(h2));
	EVENTUALLY(s->has);
	child_kill(writer);
	dlock_free(l);
	dlock_free(m);
	dlock_close(c);
	dlock_close(d);
}

/* The first writer that waits keeps readers out; but not when it is stopped,
 * and not when it is dead. */
Test(file_kinds, a_waiting_writer_stands_before_later_readers)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x"), *m = rwlock(d, "x");

	CHECK_WITHIN(before_readers(s, l, m), 100 + slack_ms());
	dlock_free(l);
	dlock_free(m);
	dlock_close(c);
	dlock_close(d);
}

static void *read_once(void *arg)
{
	dlock_hold *h = take_shared(arg, FOREVER);

	CHECK_OK(dlock_release(h));
	return NULL;
}

Test(file_kinds, a_writer_turned_reader_lets_readers_in)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x"), *m = rwlock(d, "x");
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_hold *w, *r, *h;
	pthread_t t;

	w = take(l, 0);
	r = take_shared(l, 0);
	CHECK_RC(dlock_acquire_shared(m, 0, &h), DLOCK_EBUSY);
	CHECK(pthread_create(&t, NULL, read_once, m) == 0);
	EVENTUALLY(dlock_get_stats(d, &st) == 0 && st.waiters == 1);
	CHECK_OK(dlock_release(w));
	CHECK(pthread_join(t, NULL) == 0);
	CHECK_RC(dlock_acquire(m, 0, &h), DLOCK_EBUSY);
	CHECK_OK(dlock_release(r));
	CHECK_OK(dlock_release(take(m, 0)));
	dlock_free(l);
	dlock_free(m);
	dlock_close(c);
	dlock_close(d);
}

/* ---- Permits ------------------------------------------------------------- */

static void take_permits(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 3);
	dlock_hold *h;
	int i, n;

	for (i = 0; i < 400; i++) {
		h = take(l, FOREVER);
		n = ++s->inside;
		CHECK_INT(n, <=, 3);
		if (n > s->most)
			s->most = n;
		if (i % 8 == 0)
			nap_ms(1);
		s->inside--;
		CHECK_OK(dlock_release(h));
	}
	dlock_free(l);
	dlock_close(c);
}

Test(file_kinds, permits_across_processes)
{
	struct scene *s = scene();
	pid_t pid[6];
	int i;

	for (i = 0; i < 6; i++)
		pid[i] = child(take_permits, s);
	for (i = 0; i < 6; i++)
		child_ended(pid[i]);
	CHECK_INT(s->most, ==, 3);
}

Test(file_kinds, everybody_names_the_same_number_of_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *three = semaphore(c, "x", 3), *five = semaphore(d, "x", 5);
	dlock_hold *h = take(three, 0), *h5[5], *none;
	int i;

	CHECK_RC(dlock_acquire(five, 0, &none), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "semaphore 'x' has 3 permits, not 5");
	CHECK_OK(dlock_release(h));
	for (i = 0; i < 5; i++)
		h5[i] = take(five, 0);
	CHECK_RC(dlock_acquire(five, 0, &none), DLOCK_EBUSY);
	CHECK_RC(dlock_acquire(three, 0, &none), DLOCK_EINVAL);
	for (i = 0; i < 5; i++)
		CHECK_OK(dlock_release(h5[i]));
	CHECK_OK(dlock_release(take(three, 0)));
	dlock_free(three);
	dlock_free(five);
	dlock_close(c);
	dlock_close(d);
}

static int64_t a_hundred(dlock_lock *l)
{
	int64_t begin = now_ms();
	dlock_hold *h[100];
	int i;

	for (i = 0; i < 100; i++)
		h[i] = take(l, 0);
	for (i = 0; i < 100; i++)
		CHECK_OK(dlock_release(h[i]));
	return now_ms() - begin;
}

Test(file_kinds, two_thousand_million_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", INT32_MAX);

	CHECK_WITHIN(a_hundred(l), 1000 * slowness());
	dlock_free(l);
	dlock_close(c);
}

/* More permits than one look tries: the last free one is found all the same. */
Test(file_kinds, the_last_of_many_permits)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 600), *m = semaphore(d, "x", 600);
	dlock_hold *h[600];
	int i;

	for (i = 0; i < 600; i++)
		h[i] = take(l, 5000 * slowness());
	CHECK_RC(dlock_acquire(m, 20, &h[0]), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h[77]));
	h[77] = take(m, 5000 * slowness());
	for (i = 0; i < 600; i++)
		CHECK_OK(dlock_release(h[i]));
	dlock_free(l);
	dlock_free(m);
	dlock_close(c);
	dlock_close(d);
}

/* ---- Who, and which ------------------------------------------------------ */

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

/* Lock and unlock the byte that is locked while a share is given out. */
static void seal(int fd, short type)
{
	struct flock fl = { .l_type = type,
			    .l_whence = SEEK_SET,
			    .l_start = FILE_SEAL,
			    .l_len = 1 };

	CHECK(fcntl(fd, F_OFD_SETLK, &fl) == 0);
}

static void *unseal_later(void *fd)
{
	nap_ms(15);
	seal(*(int *)fd, F_UNLCK);
	return NULL;
}

static void *refused(void *lock)
{
	dlock_hold *h;

	CHECK_RC(dlock_acquire_shared(lock, 0, &h), DLOCK_EBUSY);
	return NULL;
}

/* How long it takes until as many threads have been told. */
static int64_t refused_in(dlock_lock *l)
{
	int64_t begin = now_ms();
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&t[i], NULL, refused, l) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	return now_ms() - begin;
}

/* That others are given a share at the same time is no reason to be refused:
 * who does not want to wait waits for their system calls.  But not for long, if
 * they are stopped. */
Test(file_kinds, a_share_is_not_refused_for_those_of_others)
{
	char dir[PATH_MAX];
	dlock_client *c;
	dlock_hold *h;
	dlock_lock *l;
	int fd, i, rc = DLOCK_EBUSY;
	pthread_t t;

	store_make(dir);
	c = store_open(dir, NULL);
	l = rwlock(c, "x");
	CHECK_OK(dlock_release(take_shared(l, 0)));
	fd = open(store_file(dir, "r", "x"), O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	for (i = 0; i < 8 && rc == DLOCK_EBUSY; i++) {
		seal(fd, F_WRLCK);
		CHECK(pthread_create(&t, NULL, unseal_later, &fd) == 0);
		rc = dlock_acquire_shared(l, 0, &h);
		CHECK(pthread_join(t, NULL) == 0);
	}
	CHECK_OK(rc);
	CHECK_OK(dlock_release(h));
	seal(fd, F_WRLCK);
	CHECK_WITHIN(refused_in(l), 80 * slowness());
	close(fd);
	dlock_free(l);
	dlock_close(c);
}

static void *permit_of(void *lock)
{
	return take(lock, FOREVER);
}

/* A permit for whose holder the file has no record, because there are so many:
 * whoever got it after a wait has it, and waits no more. */
Test(file_kinds, inspect_tells_who_has_waited_from_who_waits)
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
Test(file_kinds, inspect_tells_the_few_who_hold_one_of_many)
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

Test(file_kinds, inspect_tells_the_living_from_the_dead)
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
Test(file_kinds, inspect_tells_the_exact_token)
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

Test(file_kinds, list)
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
