/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: no lost wake-up, no polling, no two at once. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- Hand-off ------------------------------------------------------------ */

#define ROUNDS 3000
#define LOST_MS 900 /* a lost wake-up costs a second, until the safety look */

struct pair {
	char dir[PATH_MAX];
	atomic_uint asked[2], got[2];
	atomic_int done[2], lost;
	atomic_ulong polls, allowed;
	int (*ask)(dlock_lock *l, int64_t timeout_ms, dlock_hold **h);
	dlock_lock *(*lock)(dlock_client *c, const char *name);
};

/* As EVENTUALLY(), and quickly. */
#define SOON(condition)                                                        \
	do {                                                                   \
		int64_t end_ = now_ms() + patience_ms();                       \
		while (!(condition)) {                                         \
			if (now_ms() > end_)                                   \
				FAIL("never came true: %s", #condition);       \
			sched_yield();                                         \
		}                                                              \
	} while (0)

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Who waits for so long may look for itself: a millisecond after a ring, then
 * after twice as long, and so on; and as often because somebody is between two
 * system calls. */
static unsigned long looks_in(int64_t ns)
{
	unsigned long looks = 0;

	for (int64_t ms = ns / 1000000; ms > 0; ms /= 2)
		looks += 2;
	return looks;
}

/* Whoever has the lock lets it go when the other has asked for it: asleep, or
 * on its way there.  The other then has it, before it is asked for again. */
static void hand_over(struct pair *p, int me)
{
	dlock_client *c = store_open(p->dir, NULL);
	dlock_lock *l = p->lock(c, "x");
	unsigned int i, k, seed = (unsigned int)me, theirs;
	int64_t begun, released;
	dlock_hold *h;

	for (i = 1; i <= ROUNDS; i++) {
		begun = now_ns();
		p->asked[me] = i;
		CHECK_OK(p->ask(l, FOREVER, &h));
		p->got[me] = i;
		SOON(p->asked[!me] > p->got[!me] || p->done[!me]);
		theirs = p->asked[!me];
		for (k = (unsigned int)rand_r(&seed) % 64; k; k--)
			sched_yield();
		released = now_ms();
		CHECK_OK(dlock_release(h));
		SOON(p->got[!me] >= theirs);
		p->lost += now_ms() - released >= LOST_MS;
		p->allowed += looks_in(now_ns() - begun);
	}
	p->done[me] = 1;
	p->polls += polls(c);
	dlock_free(l);
	dlock_close(c);
}

static void first(void *arg)
{
	hand_over(arg, 0);
}

static void second(void *arg)
{
	hand_over(arg, 1);
}

/* No wake-up is lost; two may be taken for it on a machine that stands still.
 * Nor are there looks instead of them, but where the machine takes its time. */
static void play(struct pair *p, void (*one)(void *arg),
		 void (*other)(void *arg))
{
	int64_t begin = now_ms();
	unsigned long most;
	pid_t a, b;

	store_make(p->dir);
	a = child(one, p);
	b = child(other, p);
	child_ended(a);
	child_ended(b);
	CHECK_INT(p->lost, <=, 2);
	most = (unsigned long)(now_ms() - begin) / 3;
	if (most > p->allowed)
		most = p->allowed;
	CHECK_INT(p->polls, <, ROUNDS / 20 + most);
}

/* Of a mutex it is known who has it now, so that nobody looks in vain. */
static void play_of_a_mutex(struct pair *p, void (*one)(void *arg),
			    void (*other)(void *arg))
{
	play(p, one, other);
	CHECK_INT(p->polls, <, ROUNDS / 20);
}

Test(file_wait, hand_off_of_a_mutex, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	p->lock = mutex;
	p->ask = dlock_acquire;
	play_of_a_mutex(p, first, second);
}

Test(file_wait, hand_off_among_writers, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	p->lock = rwlock;
	p->ask = dlock_acquire;
	play(p, first, second);
}

static dlock_lock *one_permit(dlock_client *c, const char *name)
{
	return semaphore(c, name, 1);
}

Test(file_wait, hand_off_of_a_permit, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	p->lock = one_permit;
	p->ask = dlock_acquire;
	play(p, first, second);
}

/* Without giving up the processor. */
static void spin_ns(int64_t ns)
{
	int64_t end = now_ns() + ns;

	while (now_ns() < end)
		continue;
}

/* The holder never waits, and so listens for knocks; it releases at about the
 * time of the knock, before and after it is heard. */
static void give_only(void *arg)
{
	struct pair *p = arg;
	dlock_client *c = store_open(p->dir, NULL);
	dlock_lock *l = mutex(c, "x");
	unsigned int i, seed = 1;
	int64_t released;
	dlock_hold *h;

	for (i = 1; i <= ROUNDS; i++) {
		h = take(l, 0);
		p->got[0] = i;
		SOON(p->asked[1] == i);
		spin_ns(rand_r(&seed) % 40000);
		released = now_ms();
		CHECK_OK(dlock_release(h));
		SOON(p->got[1] == i);
		p->lost += now_ms() - released >= LOST_MS;
	}
	dlock_free(l);
	dlock_close(c);
}

static void take_only(void *arg)
{
	struct pair *p = arg;
	dlock_client *c = store_open(p->dir, NULL);
	dlock_lock *l = mutex(c, "x");
	unsigned int i;
	dlock_hold *h;

	for (i = 1; i <= ROUNDS; i++) {
		SOON(p->got[0] == i);
		p->asked[1] = i;
		h = take(l, FOREVER);
		CHECK_OK(dlock_release(h));
		p->got[1] = i;
	}
	p->polls += polls(c);
	dlock_free(l);
	dlock_close(c);
}

Test(file_wait, hand_off_by_one_that_never_waits, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	play_of_a_mutex(p, give_only, take_only);
}

/* ---- Exclusion ----------------------------------------------------------- */

#define WORKERS 4
#define TURNS 1500

struct shop {
	char dir[PATH_MAX];
	atomic_int inside;
	unsigned long plain; /* counted by whoever has the lock */
	uint64_t token;
	atomic_ulong polls;
};

struct hand {
	struct shop *shop;
	dlock_lock *lock;
};

static void *work(void *arg)
{
	struct hand *hand = arg;
	struct shop *s = hand->shop;
	dlock_hold *h;
	int i;

	for (i = 0; i < TURNS; i++) {
		h = take(hand->lock, FOREVER);
		CHECK_INT(s->inside++, ==, 0);
		CHECK(dlock_token(h) > s->token);
		s->token = dlock_token(h);
		s->plain++;
		CHECK_INT(--s->inside, ==, 0);
		CHECK_OK(dlock_release(h));
	}
	return NULL;
}

static void two_threads(void *arg)
{
	struct shop *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	struct hand hand = { s, mutex(c, "x") };
	pthread_t t[2];
	int i;

	for (i = 0; i < 2; i++)
		CHECK(pthread_create(&t[i], NULL, work, &hand) == 0);
	for (i = 0; i < 2; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	s->polls += polls(c);
	dlock_free(hand.lock);
	dlock_close(c);
}

static void four_processes(struct shop *s)
{
	pid_t pid[WORKERS];
	int i;

	store_make(s->dir);
	for (i = 0; i < WORKERS; i++)
		pid[i] = child(two_threads, s);
	for (i = 0; i < WORKERS; i++)
		child_ended(pid[i]);
	CHECK_INT(s->plain, ==, WORKERS * 2 * TURNS);
}

Test(file_wait, four_processes_of_two_threads, .timeout = 300)
{
	struct shop *s = shared(sizeof(*s));

	four_processes(s);
	CHECK_INT(s->polls, <, WORKERS * 2 * TURNS / 20);
}

/* Each of the ways to do without inotify. */
Test(file_wait, without_inotify, .timeout = 300)
{
	fail_inotify = EMFILE;
	four_processes(shared(sizeof(struct shop)));
}

Test(file_wait, without_watches, .timeout = 300)
{
	fail_watch = ENOSPC;
	four_processes(shared(sizeof(struct shop)));
}

/* ---- Many waiters -------------------------------------------------------- */

static void *wait_once(void *arg)
{
	dlock_hold *h = take(arg, FOREVER);

	CHECK_OK(dlock_release(h));
	return NULL;
}

static int64_t two_hundred(dlock_lock *la, dlock_client *b, dlock_lock *lb)
{
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_hold *h = take(la, 0);
	pthread_t t[200];
	int64_t begin;
	int i;

	for (i = 0; i < 200; i++)
		CHECK(pthread_create(&t[i], NULL, wait_once, lb) == 0);
	EVENTUALLY(dlock_get_stats(b, &st) == 0 && st.waiters == 200);
	begin = now_ms();
	CHECK_OK(dlock_release(h));
	for (i = 0; i < 200; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	return now_ms() - begin;
}

Test(file_wait, two_hundred_threads_of_one_client)
{
	char dir[PATH_MAX];
	dlock_client *a, *b;
	dlock_lock *la, *lb;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = mutex(a, "x");
	lb = mutex(b, "x");
	CHECK_WITHIN(two_hundred(la, b, lb), 1000 * slowness());
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

/* A wait costs no look but one a second. */
Test(file_wait, waiting_does_not_poll)
{
	char dir[PATH_MAX];
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	dlock_hold *h, *none;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = mutex(a, "x");
	lb = mutex(b, "x");
	h = take(la, 0);
	CHECK_RC(dlock_acquire(lb, 700, &none), DLOCK_EBUSY);
	CHECK_INT(polls(b), <=, 1);
	CHECK_OK(dlock_release(h));
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

/* How long a waiter of `b` waits for the permit that is let go, once it has
 * waited for so long that it looks rarely. */
static int64_t one_of_many(dlock_hold **h, dlock_client *b, dlock_lock *lb)
{
	struct dlock_stats st = { .size = sizeof(st) };
	int64_t begun;
	pthread_t t;

	CHECK(pthread_create(&t, NULL, wait_once, lb) == 0);
	EVENTUALLY(dlock_get_stats(b, &st) == 0 && st.waiters == 1);
	nap_ms(300);
	begun = now_ms();
	CHECK_OK(dlock_release(*h));
	CHECK(pthread_join(t, NULL) == 0);
	*h = NULL;
	return now_ms() - begun;
}

static int64_t slowest_of_eight(dlock_hold *h[], dlock_lock *la,
				dlock_client *b, dlock_lock *lb)
{
	int64_t most = 0;

	for (int i = 0; i < 8; i++) {
		dlock_hold **one = &h[i * 71];
		int64_t took = one_of_many(one, b, lb);

		*one = take(la, FOREVER);
		most = took > most ? took : most;
	}
	return most;
}

/* Nor one for a permit of so many that a look does not try them all.  The one
 * that comes free is had at once. */
Test(file_wait, waiting_for_one_of_many_permits_does_not_poll)
{
	enum { PERMITS = 600 };
	dlock_hold *h[PERMITS], *none;
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	char dir[PATH_MAX];

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = semaphore(a, "x", PERMITS);
	lb = semaphore(b, "x", PERMITS);
	for (int i = 0; i < PERMITS; i++)
		h[i] = take(la, FOREVER);
	CHECK_RC(dlock_acquire(lb, 1000, &none), DLOCK_EBUSY);
	CHECK_INT(polls(b), <, 1000 / 50);
	CHECK_WITHIN(slowest_of_eight(h, la, b, lb), 50 * slowness());
	for (int i = 0; i < PERMITS; i++)
		CHECK_OK(dlock_release(h[i]));
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

/* Nothing is left open, and no thread, after many names and clients. */
Test(file_wait, many_names_keep_few_descriptors)
{
	char dir[PATH_MAX], name[32];
	dlock_client *c;
	dlock_lock *l;
	int i, fd;

	store_make(dir);
	c = store_open(dir, NULL);
	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		l = mutex(c, name);
		CHECK_OK(dlock_release(take(l, 0)));
		dlock_free(l);
	}
	fd = dup(0);
	CHECK_INT(fd, <, 100);
	dlock_close(c);
	close(fd);
	CHECK_INT(dup(0), <, 30);
}

/* What is kept open for the next acquire of a name is not what another one is
 * refused for. */
Test(file_wait, descriptors_that_are_kept_are_given_up)
{
	char dir[PATH_MAX], name[32];
	struct rlimit few, was;
	dlock_client *c;
	dlock_hold *h[8];
	dlock_lock *l[40];
	int i, fd;

	store_make(dir);
	c = store_open(dir, NULL);
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		l[i] = mutex(c, name);
	}
	CHECK_OK(dlock_release(take(l[0], 0)));
	CHECK_OK(dlock_release(take(l[0], 0)));
	fd = dup(0);
	CHECK(fd >= 0 && close(fd) == 0);
	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	few = was;
	few.rlim_cur = (rlim_t)fd + 20;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	for (i = 1; i < 40; i++)
		CHECK_OK(dlock_release(take(l[i], 0)));
	for (i = 0; i < 8; i++)
		h[i] = take(l[i], 0);
	CHECK_OK(dlock_break(l[0], 1000));
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	EVENTUALLY(dlock_check(h[0]) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h[0]), DLOCK_ELOST);
	for (i = 1; i < 8; i++)
		CHECK_OK(dlock_release(h[i]));
	for (i = 0; i < 40; i++)
		dlock_free(l[i]);
	dlock_close(c);
}

/* How long a waiter of `b` still waits when `la` is released so. */
static int64_t without_descriptors(dlock_lock *la, dlock_client *b,
				   dlock_lock *lb, dlock_lock *other)
{
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_hold *h = take(la, 0);
	struct rlimit few, was;
	int64_t begin, took;
	pthread_t t;

	CHECK(pthread_create(&t, NULL, wait_once, lb) == 0);
	EVENTUALLY(dlock_get_stats(b, &st) == 0 && st.waiters == 1);
	nap_ms(20);
	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	few = was;
	few.rlim_cur = 3;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	begin = now_ms();
	CHECK_OK(dlock_release(h));
	CHECK(pthread_join(t, NULL) == 0);
	took = now_ms() - begin;
	CHECK_RC(dlock_acquire(other, 0, &h), DLOCK_EEXHAUSTED);
	CHECK_TEXT(dlock_errmsg(), strerror(EMFILE));
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	return took;
}

/* A release wakes without a descriptor to spare; what needs one says so. */
Test(file_wait, out_of_descriptors)
{
	char dir[PATH_MAX];
	dlock_client *a, *b;
	dlock_lock *la, *lb, *other;

	store_make(dir);
	a = store_open(dir, NULL);
	b = store_open(dir, NULL);
	la = mutex(a, "x");
	lb = mutex(b, "x");
	other = mutex(b, "y");
	CHECK_WITHIN(without_descriptors(la, b, lb, other), 700 * slowness());
	CHECK_OK(dlock_release(take(other, 0)));
	dlock_free(la);
	dlock_free(lb);
	dlock_free(other);
	dlock_close(a);
	dlock_close(b);
}
