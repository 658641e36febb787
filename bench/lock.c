/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/store.h"

#include <stdlib.h>

#define PATIENCE_MS 120000 /* longer than any queue takes */

struct bench_lock *bench_lock_open(const struct lock_ops *ops,
				   const struct bench_store *s)
{
	struct bench_lock *l = bench_alloc(1, sizeof(*l));

	l->ops = ops;
	l->store = s;
	if (ops->open)
		ops->open(l);
	return l;
}

struct bench_lock *bench_lock_share(const struct bench_lock *first)
{
	struct bench_lock *l = bench_alloc(1, sizeof(*l));

	*l = *first;
	l->shared = 1;
	return l;
}

struct bench_lock *bench_lock_guest(const struct bench_lock *host,
				    const char *name)
{
	struct bench_lock *l = bench_alloc(1, sizeof(*l));

	l->ops = host->ops;
	l->store = host->store;
	l->guest = 1;
	l->ops->open_guest(l, host, name);
	return l;
}

void bench_lock_close(struct bench_lock *l)
{
	if (l->ops->close && !l->shared)
		l->ops->close(l);
	free(l);
}

static void new_mutex(struct bench_lock *l, dlock_client *client,
		      const char *name)
{
	l->client = client;
	bench_check(dlock_mutex_new(&l->lock, client, name), "dlock_mutex_new");
}

static void open_mutex(struct bench_lock *l)
{
	new_mutex(l, store_client(l->store), "bench");
}

static void open_guest(struct bench_lock *l, const struct bench_lock *host,
		       const char *name)
{
	new_mutex(l, host->client, name);
}

static void close_mutex(struct bench_lock *l)
{
	dlock_lock_free(l->lock);
	if (!l->guest)
		dlock_close(l->client);
}

static void acquire(struct bench_lock *l)
{
	bench_check(dlock_acquire(l->lock, PATIENCE_MS, &l->hold),
		    "dlock_acquire");
}

static void release(struct bench_lock *l)
{
	bench_check(dlock_release(l->hold), "dlock_release");
}

static void acquire_release(void *lock)
{
	acquire(lock);
	release(lock);
}

const struct lock_ops lock_dlock = {
	.open = open_mutex,
	.open_guest = open_guest,
	.close = close_mutex,
	.acquire = acquire,
	.release = release,
	.pair = acquire_release,
};

static void count_waiter(const struct dlock_participant *p, void *arg)
{
	*(unsigned int *)arg += p->waiting != 0;
}

unsigned int bench_lock_waiters(struct bench_lock *l)
{
	unsigned int n = 0;

	bench_check(dlock_inspect(l->lock, count_waiter, &n, 10000),
		    "dlock_inspect");
	return n;
}

/* A waiter in another thread. */
struct waiter {
	struct bench_lock *lock;
	pthread_t thread;
	int64_t granted_at;
};

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;

	lock_dlock.acquire(w->lock);
	w->granted_at = bench_now();
	lock_dlock.release(w->lock);
	return NULL;
}

double bench_hand_off(struct bench_lock *holder, struct bench_lock *other)
{
	struct waiter w = { .lock = other };
	int64_t until = bench_now() + 10000 * BENCH_MS;
	int64_t begin;

	lock_dlock.acquire(holder);
	bench_thread(&w.thread, waiter_main, &w);
	while (bench_lock_waiters(holder) == 0)
		bench_wait(until, "the waiter does not wait");
	bench_sleep(BENCH_MS / 2);
	begin = bench_now();
	lock_dlock.release(holder);
	pthread_join(w.thread, NULL);
	return (double)(w.granted_at - begin);
}
