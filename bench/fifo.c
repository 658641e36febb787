/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/fifo.h"

#include <stddef.h>

struct fifo_waiter {
	struct fifo_waiter *next;
	pthread_cond_t cond;
	int granted;
};

void fifo_init(struct fifo *f)
{
	pthread_mutex_init(&f->mu, NULL);
	f->held = 0;
	f->first = NULL;
	f->last = &f->first;
}

void fifo_take(struct fifo *f)
{
	struct fifo_waiter me = { .cond = PTHREAD_COND_INITIALIZER };

	pthread_mutex_lock(&f->mu);
	if (!f->held) {
		f->held = 1;
	} else {
		*f->last = &me;
		f->last = &me.next;
		while (!me.granted)
			pthread_cond_wait(&me.cond, &f->mu);
	}
	pthread_mutex_unlock(&f->mu);
	pthread_cond_destroy(&me.cond);
}

/* It stays held, and goes to the next in line. */
void fifo_give(struct fifo *f)
{
	struct fifo_waiter *next;

	pthread_mutex_lock(&f->mu);
	next = f->first;
	if (next) {
		f->first = next->next;
		if (!f->first)
			f->last = &f->first;
		next->granted = 1;
		pthread_cond_signal(&next->cond);
	} else {
		f->held = 0;
	}
	pthread_mutex_unlock(&f->mu);
}

int fifo_pair(void *fifo)
{
	fifo_take(fifo);
	fifo_give(fifo);
	return 0;
}
