/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of lab/party.h share. */
#ifndef DLOCK_LAB_PARTY_IMPL_H
#define DLOCK_LAB_PARTY_IMPL_H

#include "lab/party.h"
#include "lab/trial.h"

#include <pthread.h>
#include <sys/types.h>

struct lab_party {
	struct lab_party *next;
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
int lab_party_start(struct lab_party *p, bool process);

/* It was told to quit, or is to go at once; wait until it has. */
void lab_party_end(struct lab_party *p, bool hurry);

/* The next packet; false: none by then, or the worker is gone. */
bool lab_party_receive(struct lab_party *p, int64_t deadline,
		       struct lab_reply *reply);

#endif
