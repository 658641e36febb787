/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of lab/scenarios/worker.h share. */
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
	int fd;    /* -1 once it has gone */
	pid_t pid; /* 0 of a thread */
	pthread_t thread;
	int thread_fd; /* its end */
	struct lab_reply hello;
	struct lab_reply reply; /* that came while another was waited for */
	bool replied;
};

/* Its worker runs, in a process or in a thread of ours, and waits for its
 * lab_hello. */
int lab_worker_start(struct lab_worker *p, bool process);

/* It was told to quit, or is to go at once; wait until it has. */
void lab_worker_end(struct lab_worker *p, bool hurry);

/* The next packet; false: none by then, or the worker is gone. */
bool lab_worker_receive(struct lab_worker *p, int64_t deadline,
		       struct lab_reply *reply);

#endif
