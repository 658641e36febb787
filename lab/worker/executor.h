/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor in a worker's process: a client that carries out orders and
 * records the results.  Internal to the lab.
 *
 * Two threads: the listener receives orders, answers orders after LAB_SIDE, and
 * watches the leases; the acquirer does the rest.
 */
#ifndef DLOCK_LAB_EXECUTOR_H
#define DLOCK_LAB_EXECUTOR_H

#include "lab/worker/foreign.h"
#include "lab/worker/holds.h"
#include "lab/worker/order.h"

#include <pthread.h>

struct lab_executor {
	int fd;
	struct lab_hello hello;
	struct lab_history *history;
	dlock_client *client;        /* this or foreign; the other is NULL */
	struct lab_foreign *foreign;

	struct lab_holds holds;

	/* The acquirer's. */
	char name[LAB_NAME];
	enum lab_mode mode;
	uint32_t limit;
	uint64_t token;
	uint64_t op;
	dlock_hold *hold;  /* NULL also of a foreign lock */
	bool held;

	/* Under the mutex; the acquirer reads its own writes without. */
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	struct lab_order order;
	dlock_lock *lock;
	uint32_t tid;
	bool pending, quit;
};

/* The parts of the verbs; the codes are the library's. */
int lab_executor_lock(struct lab_executor *w, const struct lab_order *e);
int lab_executor_acquire(struct lab_executor *w, const struct lab_order *e,
			 int64_t timeout_ms);
int lab_executor_release(struct lab_executor *w);

__attribute__((format(printf, 2, 3))) void
lab_executor_say(struct lab_reply *r, const char *format, ...);

/* The longer verbs: lab/worker/verbs.c. */
void lab_executor_loop(struct lab_executor *w, const struct lab_order *e,
		       struct lab_reply *r);
void lab_executor_multi(struct lab_executor *w, const struct lab_order *e,
			struct lab_reply *r);
void lab_executor_pairs(struct lab_executor *w, const struct lab_order *e,
			struct lab_reply *r);
void lab_executor_fork(struct lab_executor *w, const struct lab_order *e,
		       struct lab_reply *r);

#endif
