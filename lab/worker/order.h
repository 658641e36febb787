/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a comparison and its workers say to each other: packets of a
 * SOCK_SEQPACKET socket, one order and one reply each.  Internal to the lab.
 */
#ifndef DLOCK_LAB_ORDER_H
#define DLOCK_LAB_ORDER_H

#include "lab/history/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LAB_WORKER_FD 3 /* the socket, in a worker's process */

/* Orders after LAB_SIDE are answered while another order is under way. */
enum lab_verb {
	LAB_DO_ACQUIRE = 1, /* name, mode, limit, timeout_ms -> token, times */
	LAB_DO_RELEASE,     /* what was acquired last -> rc, times */
	LAB_DO_LOOP,        /* for run_ms: acquire, write, hold_us, release:
			     * -> count */
	LAB_DO_MULTI,       /* the same with a multi-lock of name and other */
	LAB_DO_PAIRS,       /* `count` timed pairs, or for run_ms; samples go to
			     * a file called `other` -> count */
	LAB_DO_REENTER,     /* take it three times, give it back -> text */
	LAB_DO_FORK,        /* hold it; a forked child may nothing -> text */
	LAB_SIDE,
	LAB_DO_WAITERS,     /* -> count */
	LAB_DO_CANCEL,
	LAB_DO_STATS,       /* -> stats */
	LAB_DO_QUIT         /* release, close, end */
};

struct lab_order {
	enum lab_verb verb;
	enum lab_mode mode;
	uint32_t limit;
	int64_t timeout_ms;
	int64_t run_ms;
	int64_t hold_us;
	int64_t count;
	char name[LAB_NAME];
	char other[LAB_NAME];
};

struct lab_reply {
	enum lab_verb verb; /* 0: of the hello */
	int rc;          /* the library's code */
	uint64_t token;
	int64_t begun;   /* lab_now() before the call, and after it */
	int64_t ended;
	int64_t count;   /* hello: the caps */
	int64_t ttl_ms;  /* hello */
	int64_t linger_ms; /* hello */
	uint32_t tid;    /* hello: of the thread that acquires */
	uint64_t attempts, polls, lost; /* LAB_DO_STATS */
	char text[320];  /* what was wrong; "" */
};

/* What a worker begins with. */
struct lab_hello {
	char uri[1408];      /* or, of a foreign one, */
	char command[1024];
	char dir[512];       /* of the histories; its resource is there too */
	char label[64];
	uint32_t require;    /* DLOCK_CAP_ bits */
	pid_t parent;        /* of a process */
};

/*
 * Be a worker until told to quit or until `fd` is closed at the other end.
 * Threads of one process write one history: it is given, and not closed.  NULL:
 * one is made.
 */
void lab_work(int fd, struct lab_history *history);

/* In a worker's process: main() calls it as lab_compare_options.worker_command
 * asks.  Returns an exit code. */
int lab_worker_main(void);

#endif
