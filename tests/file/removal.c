/* SPDX-License-Identifier: Apache-2.0 */
/* Lock files that go away: holders learn of it, nobody locks a ghost. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 60

struct waiter {
	dlock_lock *lock;
	atomic_int has, over;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	dlock_hold *h = take(w->lock, FOREVER);

	w->has = 1;
	EVENTUALLY(w->over);
	CHECK_OK(dlock_release(h));
	return NULL;
}

static void start(pthread_t *thread, struct waiter *w)
{
	CHECK(pthread_create(thread, NULL, wait_for_it, w) == 0);
}

static uint64_t waiters(dlock_client *c)
{
	struct dlock_stats s = { .size = sizeof(s) };

	CHECK_OK(dlock_get_stats(c, &s));
	return s.waiters;
}

/* Lost at once: a look each third of the ttl would take ten seconds. */
static void lost_soon(dlock_hold *h)
{
	int64_t begin = now_ms();

	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - begin, <, 5000);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

/* What `spoil` does to the file takes the lock from its holder, and the next
 * one has a larger token. */
static void spoilt(void (*spoil)(const char *dir, const char *file))
{
	char dir[PATH_MAX];
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	dlock_hold *ha, *hb;
	uint64_t token;

	store_make(dir);
	a = store_open(dir, "ttl=30s");
	b = store_open(dir, "ttl=30s");
	la = mutex(a, "x");
	lb = mutex(b, "x");
	ha = take(la, 0);
	token = dlock_token(ha);
	CHECK_RC(dlock_acquire(lb, 0, &hb), DLOCK_EBUSY);
	spoil(dir, store_file(dir, "m", "x"));
	hb = take(lb, 0);
	CHECK(dlock_token(hb) > token);
	lost_soon(ha);
	/* And both meet at the new file again. */
	CHECK_RC(dlock_acquire(la, 0, &ha), DLOCK_EBUSY);
	CHECK_OK(dlock_release(hb));
	CHECK_OK(dlock_release(take(la, 0)));
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

static void by_unlink(const char *dir, const char *file)
{
	(void)dir;
	CHECK(unlink(file) == 0);
}

static void by_rename(const char *dir, const char *file)
{
	char to[PATH_MAX + 16];

	snprintf(to, sizeof(to), "%s/aside", dir);
	CHECK(rename(file, to) == 0);
}

static void by_replacement(const char *dir, const char *file)
{
	char from[PATH_MAX + 16];

	snprintf(from, sizeof(from), "%s/fresh", dir);
	CHECK(close(open(from, O_CREAT | O_WRONLY, 0600)) == 0);
	CHECK(rename(from, file) == 0);
}

static void by_moving_the_directory(const char *dir, const char *file)
{
	char to[PATH_MAX + 16];

	(void)file;
	snprintf(to, sizeof(to), "%s-aside", dir);
	CHECK(rename(dir, to) == 0);
	CHECK(mkdir(dir, 0700) == 0);
}

static void by_removing_the_directory(const char *dir, const char *file)
{
	CHECK(unlink(file) == 0);
	CHECK(rmdir(dir) == 0);
}

Test(file_removal, unlinked_while_held)
{
	spoilt(by_unlink);
}

Test(file_removal, moved_while_held)
{
	spoilt(by_rename);
}

Test(file_removal, replaced_while_held)
{
	spoilt(by_replacement);
}

Test(file_removal, the_directory_moved_while_held)
{
	spoilt(by_moving_the_directory);
}

Test(file_removal, the_directory_removed_while_held)
{
	spoilt(by_removing_the_directory);
}

static void count_party(const struct dlock_party *p, void *arg)
{
	(void)p;
	++*(int *)arg;
}

static void count_entry(const struct dlock_entry *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

/* Who only asks, or breaks, means the directory that is there now. */
Test(file_removal, the_directory_replaced_before_a_question)
{
	char dir[PATH_MAX], old[PATH_MAX + 8];
	dlock_lock *la, *lb, *other;
	int parties = 0, entries = 0;
	dlock_client *a, *b;
	dlock_hold *h;

	store_make(dir);
	snprintf(old, sizeof(old), "%s-aside", dir);
	a = store_open(dir, NULL);
	la = mutex(a, "x");
	CHECK_OK(dlock_release(take(la, 0)));
	CHECK(rename(dir, old) == 0);
	b = store_open(dir, NULL);
	lb = mutex(b, "x");
	other = mutex(b, "y");
	h = take(lb, 0);
	CHECK_OK(dlock_release(take(other, 0)));
	CHECK_OK(dlock_inspect(la, count_party, &parties, 1000));
	CHECK_INT(parties, ==, 1);
	CHECK_OK(dlock_list(a, count_entry, &entries, 1000));
	CHECK_INT(entries, ==, 2);
	CHECK_OK(dlock_break(la, 1000));
	lost_soon(h);
	dlock_free(la);
	dlock_free(lb);
	dlock_free(other);
	dlock_close(a);
	dlock_close(b);
}

/* A client that has the file open must not lock what is gone, not even for a
 * moment: the other has the new one. */
Test(file_removal, no_acquire_on_a_ghost)
{
	char dir[PATH_MAX];
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	dlock_hold *h, *hb;
	int i, k;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = mutex(a, "x");
	lb = mutex(b, "x");
	for (i = 0; i < 300; i++) {
		/* So often that tokens come from memory. */
		for (k = 0; k < (i % 3 == 0 ? 100 : 1); k++)
			CHECK_OK(dlock_release(take(la, 0)));
		if (i % 2)
			by_unlink(dir, store_file(dir, "m", "x"));
		else
			by_rename(dir, store_file(dir, "m", "x"));
		hb = take(lb, 0);
		CHECK_RC(dlock_acquire(la, 0, &h), DLOCK_EBUSY);
		CHECK_OK(dlock_release(hb));
	}
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

struct churn {
	char dir[PATH_MAX];
	dlock_client *client[2];
	atomic_int stop;
	atomic_uint seed;
};

/* More names than a client keeps open, and each may be removed at any time:
 * then two may hold it until the first has learnt. */
static void *take_any(void *arg)
{
	struct churn *t = arg;
	unsigned int seed = ++t->seed, i;
	char name[16];
	dlock_lock *l;
	dlock_hold *h;
	int rc;

	while (!t->stop) {
		i = (unsigned int)rand_r(&seed) % NAMES;
		snprintf(name, sizeof(name), "n%u", i);
		if (i % 2)
			l = mutex(t->client[seed / 7 % 2], name);
		else
			l = rwlock(t->client[seed / 7 % 2], name);
		rc = i % 4 ? dlock_acquire(l, FOREVER, &h) :
			     dlock_acquire_shared(l, FOREVER, &h);
		CHECK_INT(rc, ==, DLOCK_OK);
		rc = dlock_release(h);
		CHECK(rc == DLOCK_OK || rc == DLOCK_ELOST);
		dlock_free(l);
	}
	return NULL;
}

Test(file_removal, names_come_and_go)
{
	static struct churn t;
	pthread_t thread[6];
	unsigned int seed = 1, i;
	char name[16];
	int64_t end;

	store_make(t.dir);
	for (i = 0; i < 2; i++)
		t.client[i] = store_open(t.dir, NULL);
	for (i = 0; i < 6; i++)
		CHECK(pthread_create(&thread[i], NULL, take_any, &t) == 0);
	for (end = now_ms() + 1500; now_ms() < end; nap_ms(1)) {
		i = (unsigned int)rand_r(&seed) % NAMES;
		snprintf(name, sizeof(name), "n%u", i);
		(void)unlink(store_file(t.dir, i % 2 ? "m" : "r", name));
	}
	t.stop = 1;
	for (i = 0; i < 6; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	for (i = 0; i < 2; i++)
		dlock_close(t.client[i]);
}

Test(file_removal, unlinked_while_another_waits)
{
	char dir[PATH_MAX];
	dlock_client *a, *b, *d;
	dlock_lock *la, *ld;
	dlock_hold *ha, *hd;
	struct waiter w = { 0 };
	pthread_t thread;
	int64_t begin;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	d = store_open(dir, NULL);
	la = mutex(a, "x");
	w.lock = mutex(b, "x");
	ld = mutex(d, "x");
	ha = take(la, 0);
	start(&thread, &w);
	EVENTUALLY(waiters(b) == 1);
	begin = now_ms();
	by_unlink(dir, store_file(dir, "m", "x"));
	EVENTUALLY(w.has);
	CHECK_INT(now_ms() - begin, <, 5000);
	lost_soon(ha);
	/* It is the new file that the waiter has. */
	CHECK_RC(dlock_acquire(ld, 0, &hd), DLOCK_EBUSY);
	w.over = 1;
	pthread_join(thread, NULL);
	dlock_free(la);
	dlock_free(ld);
	dlock_free(w.lock);
	dlock_close(a);
	dlock_close(b);
	dlock_close(d);
}

Test(file_removal, without_inotify_within_a_third_of_the_ttl)
{
	char dir[PATH_MAX];
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	fail_inotify = 24;
	store_make(dir);
	c = store_open(dir, "ttl=300ms");
	l = mutex(c, "x");
	h = take(l, 0);
	by_unlink(dir, store_file(dir, "m", "x"));
	lost_soon(h);
	dlock_free(l);
	dlock_close(c);
}

Test(file_removal, broken_by_the_operator)
{
	char dir[PATH_MAX];
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	dlock_hold *ha, *hb;
	uint64_t token;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = mutex(a, "x");
	lb = mutex(b, "x");
	/* Nothing to break, nothing made. */
	CHECK_OK(dlock_break(lb, 1000));
	CHECK(access(store_file(dir, "m", "x"), F_OK) < 0);
	ha = take(la, 0);
	token = dlock_token(ha);
	CHECK_OK(dlock_break(lb, 1000));
	hb = take(lb, 0);
	CHECK(dlock_token(hb) > token);
	lost_soon(ha);
	/* Our own, too. */
	CHECK_OK(dlock_break(lb, 1000));
	lost_soon(hb);
	CHECK_OK(dlock_release(take(la, 0)));
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

static void *break_again_and_again(void *arg)
{
	for (int i = 0; i < 500; i++)
		CHECK_OK(dlock_break(arg, 1000));
	return NULL;
}

/* Each of them puts a file of its own in the lock's place. */
Test(file_removal, broken_by_several_at_once)
{
	char dir[PATH_MAX];
	pthread_t thread[3];
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;
	uint64_t last;

	store_make(dir);
	c = store_open(dir, NULL);
	l = mutex(c, "x");
	h = take(l, 0);
	last = dlock_token(h);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&thread[i], NULL, break_again_and_again,
				     l) == 0);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	lost_soon(h);
	h = take(l, 1000);
	CHECK(dlock_token(h) > last);
	CHECK_OK(dlock_release(h));
	dlock_free(l);
	dlock_close(c);
}
