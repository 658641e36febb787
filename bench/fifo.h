/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mem: is measured against: a lock of one process that is granted in the
 * order of asking; a mutex, a list, and a condition variable for each waiter.
 */
#ifndef DLOCK_BENCH_FIFO_H
#define DLOCK_BENCH_FIFO_H

#include <pthread.h>

struct fifo_waiter;

struct fifo {
	pthread_mutex_t mu;
	int held;
	struct fifo_waiter *first, **last;
};

void fifo_init(struct fifo *f);
void fifo_take(struct fifo *f);
void fifo_give(struct fifo *f);
int fifo_pair(void *fifo); /* for a struct bench_op */

#endif
