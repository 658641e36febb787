/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other participants of a case.  Each is a thread that has a handle of the
 * case's lock and executes orders, one at a time, so that the case reads like a
 * story.  A worker shares the handle, the client or only the store with the
 * case; most cases run once for each of these ways.
 */
#ifndef DLOCK_TESTS_CONFORM_WORKER_H
#define DLOCK_TESTS_CONFORM_WORKER_H

#include <pthread.h>
#include <sys/types.h>

#include "conform/arena.h"
#include "conform/conform.h"

enum way { SAME_HANDLE, OTHER_HANDLE, OTHER_CLIENT, OTHER_PROCESS };
enum { WAYS = 4 };

enum op {
	QUIT,
	ACQUIRE, /* by a timeout in ms */
	READ,    /* the read side, likewise */
	UPGRADEABLE, /* the upgradeable read side, likewise */
	UPGRADE,     /* the latest hold, likewise */
	RELEASE, /* the latest hold */
	CHECK_HOLD,
	REMAINING, /* -> count */
	WORK,      /* for so many ms: take, be in the arena, release -> count */
	READ_WORK, /* the same on the read side */
	UPGRADE_WORK, /* on the upgradeable read side, and then on the write
		       * side */
	PERMIT_WORK, /* with a permit: shared, but not asked for so */
	LOSSES,      /* LOST events of the client, if it has one of its own */
	READABLE,    /* is the hold's descriptor? -> count */
	WAITERS,     /* parked now, of the client -> count */
	CANCEL,
	FORK, /* a child that does nothing and outlives its parent */
	CLOSE /* the client, if it has one of its own */
};

struct order {
	enum op op;
	int64_t arg;
};

struct reply {
	int rc;
	uint64_t token;
	int64_t took_ms;
	int64_t count;
};

struct worker {
	struct worker *next;
	int number; /* its slot in the arena */
	enum way way;
	int fd;      /* orders and replies */
	int control; /* of a process: answered while it waits; or -1 */
	pid_t pid;
	pthread_t thread;
	dlock_client *client; /* in this process, or NULL */
	struct executor *executor; /* likewise */
};

/* A worker of the case's lock, or NULL where the store knows no such way. */
struct worker *join(struct conform *t, enum way way);
/* A worker of its own client with other parameters in its URI. */
struct worker *join_with(struct conform *t, enum way way, const char *params);

/* Send an order; receive its reply; both.  The case fails unless the reply
 * comes within one and a half times patience_ms(). */
void tell(struct worker *p, enum op op, int64_t arg);
struct reply hear(struct worker *p);
struct reply ask(struct worker *p, enum op op, int64_t arg);

/* The same while another order is under way; for processes. */
struct reply ask_beside(struct worker *p, enum op op, int64_t arg);

/* Has it not answered yet? */
int quiet(struct worker *p);

/* ask() that must end OK. */
#define ASK_OK(p, op, arg) CHECK_INT(ask(p, op, arg).rc, ==, DLOCK_OK)
#define HEAR_OK(p) CHECK_INT(hear(p).rc, ==, DLOCK_OK)

/* The worker releases what it holds and ends.  The case fails unless it exits
 * with 0. */
void leave(struct conform *t, struct worker *p);

/* Forget a process that was killed. */
void bury(struct conform *t, struct worker *p);

/* All workers that are left. */
void leave_all(struct conform *t);

/* The body of a worker's process. */
int worker_main(char *argv[]);

#define EACH_WAY(t, p)                                                         \
	for (int way_ = 0; way_ < WAYS; way_++)                                \
		for (struct worker *p = join((t), (enum way)way_); p;          \
		     leave((t), p), p = NULL)

#endif
