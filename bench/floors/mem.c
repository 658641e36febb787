/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem: and the floor, a lock of one process that is granted first come, first
 * served: a mutex, a list, and a condition variable for each waiter.
 */
#include "bench/store.h"

#include <pthread.h>

static void store_open(struct bench_store *s)
{
	s->uri = store_text("mem://bench");
}

const struct store_desc store_mem = {
	.name = "mem",
	.one_process = 1,
	.open = store_open,
};

/* ---- Floor --------------------------------------------------------------- */

struct waiter {
	struct waiter *next;
	pthread_cond_t cond;
	int granted;
};

static struct {
	pthread_mutex_t mu;
	int held;
	struct waiter *first, **last;
} fifo = { .mu = PTHREAD_MUTEX_INITIALIZER, .last = &fifo.first };

static void fifo_acquire(struct bench_lock *l)
{
	struct waiter me = { .cond = PTHREAD_COND_INITIALIZER };

	(void)l;
	pthread_mutex_lock(&fifo.mu);
	if (!fifo.held) {
		fifo.held = 1;
	} else {
		*fifo.last = &me;
		fifo.last = &me.next;
		while (!me.granted)
			pthread_cond_wait(&me.cond, &fifo.mu);
	}
	pthread_mutex_unlock(&fifo.mu);
	pthread_cond_destroy(&me.cond);
}

/* With a waiter the lock stays held, and goes to the first. */
static void fifo_release(struct bench_lock *l)
{
	struct waiter *next;

	(void)l;
	pthread_mutex_lock(&fifo.mu);
	next = fifo.first;
	if (next) {
		fifo.first = next->next;
		if (!fifo.first)
			fifo.last = &fifo.first;
		next->granted = 1;
		pthread_cond_signal(&next->cond);
	} else {
		fifo.held = 0;
	}
	pthread_mutex_unlock(&fifo.mu);
}

static void fifo_pair(void *lock)
{
	fifo_acquire(lock);
	fifo_release(lock);
}

const struct lock_ops floor_fifo = {
	.acquire = fifo_acquire,
	.release = fifo_release,
	.pair = fifo_pair,
};
