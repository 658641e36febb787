/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets between a comparison and the workers, on a SOCK_SEQPACKET socket:
 * an order, then a reply.  Internal to the lab.
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
	LAB_DO_RELEASE,     /* the last acquire -> rc, times */
	LAB_DO_LOOP,        /* for run_ms: acquire, write, hold_us, release:
			     * -> count */
	LAB_DO_MULTI,       /* the same with a multi-lock of name and other */
	LAB_DO_PAIRS,       /* `count` timed pairs, or for run_ms; samples go to
			     * a file called `other` -> count */
	LAB_DO_FORK,        /* hold; a forked child may do nothing -> text */
	LAB_SIDE,
	LAB_DO_STATS,       /* -> attempts; count: of waiters */
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
	int64_t begun;   /* lab_now() before the call, and after */
	int64_t ended;
	int64_t count;   /* hello: the caps */
	int64_t ttl_ms;  /* hello */
	int64_t linger_ms; /* hello */
	uint32_t tid;    /* hello: of the acquirer */
	uint64_t attempts; /* LAB_DO_STATS */
	char text[320];  /* the error, or "" */
};

/* The first packet to a worker. */
struct lab_hello {
	char uri[1408];      /* or, of a foreign lock, */
	char command[1024];
	char dir[512];       /* of the histories and the worker's resource */
	char label[64];
	uint32_t require;    /* DLOCK_CAP_ bits */
	pid_t parent;        /* of a process */
};

/*
 * Work until an order to quit or until the other end of `fd` is closed.
 * Threads of a process share `history`, which is not closed.  NULL: the worker
 * makes a history.
 */
void lab_work(int fd, struct lab_history *history);

/* Run a worker's process: main() calls it as lab_compare_options.worker_command
 * asks.  Returns an exit code. */
int lab_worker_main(void);

#endif
