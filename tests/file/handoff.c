/* SPDX-License-Identifier: Apache-2.0 */
/* A lock passes between two clients: no wake is lost, and no poll stands in for
 * a wake. */
#include "support.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 3000
#define LOST_MS 900 /* a lost wake costs a second, until the safety poll */

struct pair {
	char dir[PATH_MAX];
	atomic_uint asked[2], got[2];
	atomic_int done[2], lost;
	atomic_ulong polls, allowed;
	/* of each client */
	int (*ask[2])(dlock_lock *l, int64_t timeout_ms, dlock_hold **h);
	dlock_lock *(*lock[2])(dlock_client *c, const char *name);
};

/* As EVENTUALLY(), but quick. */
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

/* Return how often a client may poll in a wait: a millisecond after a
 * notification, then after twice as long, and so on. Allow as many polls again
 * for a peer between two system calls. */
static unsigned long polls_in(int64_t ns)
{
	unsigned long polls = 0;

	for (int64_t ms = ns / 1000000; ms > 0; ms /= 2)
		polls += 2;
	return polls;
}

/* Release when the other client has asked for the lock and sleeps, or is about
 * to. The other client must then get the lock before the next request. */
static void hand_over(struct pair *p, int me)
{
	dlock_client *c = store_open(p->dir, NULL);
	dlock_lock *l = p->lock[me](c, "x");
	unsigned int i, k, seed = (unsigned int)me, theirs;
	int64_t begun, released;
	dlock_hold *h;

	for (i = 1; i <= ROUNDS; i++) {
		begun = now_ns();
		p->asked[me] = i;
		CHECK_OK(p->ask[me](l, FOREVER, &h));
		p->got[me] = i;
		SOON(p->asked[!me] > p->got[!me] || p->done[!me]);
		theirs = p->asked[!me];
		for (k = (unsigned int)rand_r(&seed) % 64; k; k--)
			sched_yield();
		released = now_ms();
		CHECK_OK(dlock_release(h));
		SOON(p->got[!me] >= theirs);
		p->lost += now_ms() - released >= LOST_MS;
		p->allowed += polls_in(now_ns() - begun);
	}
	p->done[me] = 1;
	p->polls += stats(c).polls;
}

static void first(void *arg)
{
	hand_over(arg, 0);
}

static void second(void *arg)
{
	hand_over(arg, 1);
}

/* On a machine that stands still, two wakes may seem lost. Polls are few,
 * unless the machine is slow. */
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

/* A mutex names the current holder, so a client need not poll. */
static void play_of_a_mutex(struct pair *p, void (*one)(void *arg),
			    void (*other)(void *arg))
{
	play(p, one, other);
	CHECK_INT(p->polls, <, ROUNDS / 20);
}

CASE(file_handoff, of_a_mutex, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	p->lock[0] = p->lock[1] = mutex;
	p->ask[0] = p->ask[1] = dlock_acquire;
	play_of_a_mutex(p, first, second);
}

CASE(file_handoff, between_a_mutex_and_a_reader, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	p->lock[0] = mutex;
	p->lock[1] = rwlock;
	p->ask[0] = dlock_acquire;
	p->ask[1] = dlock_acquire_shared;
	play(p, first, second);
}

/* Spin without a yield. */
static void spin_ns(int64_t ns)
{
	int64_t end = now_ns() + ns;

	while (now_ns() < end)
		continue;
}

/* The holder never waits, and so listens for announcements. The release comes
 * at about the time of an announcement: before or after the thread reads it. */
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
	p->polls += stats(c).polls;
}

CASE(file_handoff, by_one_that_never_waits, .timeout = 300)
{
	struct pair *p = shared(sizeof(*p));

	play_of_a_mutex(p, give_only, take_only);
}
