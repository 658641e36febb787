/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other participants of a case. A worker is a thread with a handle of the
 * case's lock. The thread executes orders in turn, so a case reads like a
 * story. A worker shares the handle, the client or only the store with the
 * case; most cases run once in each of these ways.
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
	ACQUIRE,     /* the argument is a timeout in ms */
	READ,        /* the read side, likewise */
	UPGRADEABLE, /* the upgradeable read side, likewise */
	UPGRADE,     /* the latest hold, likewise */
	RELEASE,     /* the latest hold */
	CHECK_HOLD,
	REMAINING, /* -> count */
	WORK, /* for a number of ms: take, be in the arena, release -> count */
	READ_WORK,    /* the same on the read side */
	UPGRADE_WORK, /* the same upgradeable, then on the write side */
	SIDES_WORK,   /* these three and downgrades, by chance */
	PERMIT_WORK,  /* READING with a permit, not shared */
	LOSSES,       /* LOST events of a worker's own client */
	READABLE,     /* is the hold's descriptor readable? -> count */
	WAITERS,      /* parked waits of the client -> count */
	CANCEL,
	FORK, /* an idle child that outlives the parent */
	CLOSE /* the worker's own client */
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
	int number; /* slot in the arena */
	enum way way;
	int fd;      /* orders and replies */
	int control; /* of a process: replies during a wait; or -1 */
	pid_t pid;
	pthread_t thread;
	dlock_client *client;      /* in this process, or NULL */
	struct executor *executor; /* likewise */
};

/* Join a worker of the case's lock; NULL if the store has no such way. */
struct worker *join(struct conform *t, enum way way);
/* Join a worker with a separate client and more URI parameters. */
struct worker *join_with(struct conform *t, enum way way, const char *params);

/* Send an order; receive the reply; both. The case fails unless the reply comes
 * within one and a half times patience_ms(). */
void tell(struct worker *p, enum op op, int64_t arg);
struct reply hear(struct worker *p);
struct reply ask(struct worker *p, enum op op, int64_t arg);

/* ask() while another order is under way; for processes. */
struct reply ask_beside(struct worker *p, enum op op, int64_t arg);

/* Return whether no reply has come yet. */
int quiet(struct worker *p);

/* ask() or hear() with the result OK. */
#define ASK_OK(p, op, arg) CHECK_INT(ask(p, op, arg).rc, ==, DLOCK_OK)
#define HEAR_OK(p) CHECK_INT(hear(p).rc, ==, DLOCK_OK)

/* Let two readers overlap, the first of whom reads, so that the lock always has
 * a reader: `waiter`, who is told to acquire, must have a turn soon. */
void is_before_readers(struct worker *waiter, struct worker *reader[2]);

/* Make the worker release all holds and end. The case fails unless the worker
 * exits with 0. */
void leave(struct conform *t, struct worker *p);

/* Kill and forget a process. */
void bury(struct conform *t, struct worker *p);

/* Let all remaining workers leave. */
void leave_all(struct conform *t);

/* Run a worker's process. */
int worker_main(char *argv[]);

#define EACH_WAY(t, p)                                                         \
	for (int way_ = 0; way_ < WAYS; way_++)                                \
		for (struct worker *p = join((t), (enum way)way_); p;          \
		     leave((t), p), p = NULL)

#endif
