/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The others in a case: each is a thread with a handle of the case's lock, and
 * does what it is told, so that the case reads like a story.  Whether it shares
 * a handle, a client or only the store with the case makes no difference to the
 * story: most cases are told once in every way.
 */
#ifndef DLOCK_TESTS_CONFORM_PARTY_H
#define DLOCK_TESTS_CONFORM_PARTY_H

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
	RELEASE, /* the latest hold */
	CHECK_HOLD,
	REMAINING, /* -> count */
	WORK,      /* for so many ms: take, be in the arena, release -> count */
	READ_WORK, /* the same on the read side */
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

struct party {
	struct party *next;
	int number; /* its seat in the arena */
	enum way way;
	int fd;      /* orders and replies */
	int control; /* of a process: answered while it waits; or -1 */
	pid_t pid;
	pthread_t thread;
	dlock_client *client; /* in this process, or NULL */
	struct seat *seat;    /* likewise */
};

/* A party of the case's lock, or NULL where the store knows no such way. */
struct party *join(struct conform *t, enum way way);
/* A party of its own client with other parameters in its URI. */
struct party *join_with(struct conform *t, enum way way, const char *params);

/* Tell; hear what came of it; both.  Replies must come within patience_ms(). */
void tell(struct party *p, enum op op, int64_t arg);
struct reply hear(struct party *p);
struct reply ask(struct party *p, enum op op, int64_t arg);

/* The same beside an order that is still under way; for processes. */
struct reply ask_beside(struct party *p, enum op op, int64_t arg);

/* Has it not answered yet? */
int quiet(struct party *p);

/* ask() that must end OK. */
#define ASK_OK(p, op, arg) CHECK_INT(ask(p, op, arg).rc, ==, DLOCK_OK)
#define HEAR_OK(p) CHECK_INT(hear(p).rc, ==, DLOCK_OK)

/* Whatever it holds is released; it ends, and has to end well. */
void leave(struct conform *t, struct party *p);

/* A process that was killed. */
void bury(struct conform *t, struct party *p);

/* Everybody that is left. */
void leave_all(struct conform *t);

/* The body of a party's process. */
int party_main(char *argv[]);

#define EACH_WAY(t, p)                                                         \
	for (int way_ = 0; way_ < WAYS; way_++)                                \
		for (struct party *p = join((t), (enum way)way_); p;           \
		     leave((t), p), p = NULL)

#endif
