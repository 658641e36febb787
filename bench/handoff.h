/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-off: from just before the holder's release until the waiter, in another
 * process or thread, has come back from acquire.  The waiter is seen to sleep
 * before the clock starts, and the holder sleeps again right after its release.
 */
#ifndef DLOCK_BENCH_HANDOFF_H
#define DLOCK_BENCH_HANDOFF_H

#include "bench/bench.h"

/* A lock, as one of the two parties has it. */
struct handoff_kind {
	/* Set *out.  `other` is the first party's, for the second of two
	 * threads, or NULL.  0, or what bench_fail() or bench_skip() gave. */
	int (*open)(struct bench_run *r, const char *where, void *other,
		    void **out);
	void (*close)(void *lock);
	int (*take)(void *lock); /* 0, or what bench_fail() returned */
	int (*give)(void *lock);
	dlock_client *(*client)(void *lock); /* NULL: not one of dlock's */
};

struct handoff {
	int threads;             /* of one process; 0: two processes */
	struct handoff_kind floor, ours;
	const char *floor_where, *our_where;
	/* What a waiter that sleeps may still be asking takes this long. */
	int64_t settle_ns;
};

/* A mutex in the store at the URI `where`. */
extern const struct handoff_kind handoff_dlock;

/*
 * Measure for r->seconds, in turns.  Sets every figure of `res`, in
 * nanoseconds: value, floor, ratio are medians over the rounds' medians.
 * Of processes it then keeps the waiter waiting, and adds what it does in that
 * time: attempts_per_s and polls_per_s by dlock's count, wakeups_per_s of all
 * its threads by the kernel's.
 */
int handoff_measure(struct bench_run *r, const struct handoff *h,
		    struct bench_result *res);

/* ---- Between handoff.c and waiter.c -------------------------------------- */

#include "bench/mailbox.h"

#include <sys/types.h>

enum { HANDOFF_FLOOR, HANDOFF_OURS };
enum handoff_order { HANDOFF_OPEN, HANDOFF_TAKE, HANDOFF_QUIT };

/* What the waiter did while it waited: differences. */
struct handoff_idle {
	int64_t ns;
	uint64_t attempts, polls;
	int64_t wakeups;
};

/* In memory that both processes see.  The mailboxes say whose turn it is. */
struct handoff_shared {
	struct mailbox to_waiter, to_holder;
	enum handoff_order order;
	int which;               /* HANDOFF_FLOOR, HANDOFF_OURS */
	_Atomic uint32_t entered;/* takes that the waiter has begun */
	int64_t taken_at;
	struct handoff_idle idle;
	int rc;                  /* of the order */
	pid_t pid, tid;          /* of the waiter */
};

struct handoff_party {
	struct bench_run *run;
	const struct handoff *plan;
	struct handoff_shared *shared;
	const struct handoff_party *other; /* of the second of two threads */
	void *lock[2];
};

int handoff_open(struct handoff_party *p);
void handoff_close(struct handoff_party *p);
const struct handoff_kind *handoff_kind_of(const struct handoff_party *p,
					   int which);

/* Do as the holder says, until it says quit. */
void handoff_wait(struct handoff_party *waiter);

#endif
