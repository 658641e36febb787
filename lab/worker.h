/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker of a comparison: a client that does errands and writes down what
 * comes of them.  Internal to the lab.
 *
 * Two threads: one listens, answers what can be answered beside, and watches
 * the lease; the hand does the rest.
 */
#ifndef DLOCK_LAB_WORKER_H
#define DLOCK_LAB_WORKER_H

#include "lab/errand.h"
#include "lab/foreign.h"

#include <pthread.h>

struct lab_member { /* of the multi-lock that is held */
	dlock_hold *hold; /* NULL: none is */
	uint64_t op;
	int64_t watched;
	bool lost;
};

struct lab_worker {
	int fd;
	struct lab_hello hello;
	struct lab_history *history;
	dlock_client *client;        /* one of these */
	struct lab_foreign *foreign;

	/* The hand's. */
	char name[LAB_NAME];
	enum lab_mode mode;
	uint32_t limit;
	uint64_t token;

	/* Under the mutex; the hand may read without what only it writes. */
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	struct lab_errand errand;
	dlock_lock *lock;
	dlock_hold *hold;  /* NULL also of a foreign one */
	uint64_t op;
	int64_t watched;   /* the end of the lease as noted last */
	struct lab_member members[2];
	uint32_t tid;
	bool pending, quit;
	bool held, asking, lost_early;
};

/* What the verbs are made of; the codes are the library's. */
int lab_worker_lock(struct lab_worker *w, const struct lab_errand *e);
int lab_worker_acquire(struct lab_worker *w, const struct lab_errand *e,
		       int64_t timeout_ms);
int lab_worker_release(struct lab_worker *w);

/* The end of the hold's lease, as lab/history.h wants it. */
int64_t lab_worker_until(const dlock_hold *hold);

__attribute__((format(printf, 2, 3))) void
lab_worker_say(struct lab_reply *r, const char *format, ...);

/* The longer verbs: lab/verbs.c. */
void lab_worker_loop(struct lab_worker *w, const struct lab_errand *e,
		     struct lab_reply *r);
void lab_worker_multi(struct lab_worker *w, const struct lab_errand *e,
		      struct lab_reply *r);
void lab_worker_pairs(struct lab_worker *w, const struct lab_errand *e,
		      struct lab_reply *r);
void lab_worker_reenter(struct lab_worker *w, const struct lab_errand *e,
			struct lab_reply *r);
void lab_worker_fork(struct lab_worker *w, const struct lab_errand *e,
		     struct lab_reply *r);

#endif
