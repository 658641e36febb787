/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sources of lab/scenarios/worker.h. */
#ifndef DLOCK_LAB_WORKER_IMPL_H
#define DLOCK_LAB_WORKER_IMPL_H

#include "lab/scenarios/trial.h"
#include "lab/scenarios/worker.h"

#include <pthread.h>
#include <sys/types.h>

struct lab_worker {
	struct lab_worker *next;
	struct lab_trial *trial;
	const char *label;
	int fd;    /* -1 once the worker has gone */
	pid_t pid; /* 0 of a thread */
	pthread_t thread;
	int thread_fd; /* the worker's end */
	struct lab_reply hello;
	struct lab_reply reply; /* came while another reply was awaited */
	bool replied;
};

/* Start the worker, in a process or in a thread of ours; the worker then waits
 * for lab_hello. */
int lab_worker_start(struct lab_worker *p, bool process);

/* Wait for the end of a worker that was told to quit, or end it at once. */
void lab_worker_end(struct lab_worker *p, bool hurry);

/* Receive the next packet; false: no packet by then, or the worker is gone. */
bool lab_worker_receive(struct lab_worker *p, int64_t deadline,
		       struct lab_reply *reply);

#endif
