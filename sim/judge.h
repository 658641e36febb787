/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: which caller may rely on which lock until when, in true time.
 *
 * Intervals of conflicting holds must be disjoint, and a hold's token must be
 * larger than the tokens of all conflicting holds before; unless the store has
 * declared a loss since either hold was asked for.  An ended hold stays
 * ended.  When a claim is over, the store has no hold of the claim.
 */
#ifndef DLOCK_SIM_JUDGE_H
#define DLOCK_SIM_JUDGE_H

#include <stdint.h>

struct sim_net;

/* The last lock is a semaphore. */
enum {
	SIM_LOCKS = 4,
	SIM_SEMAPHORE = SIM_LOCKS - 1,
	SIM_PERMITS = 2,
	SIM_CALLERS = 18,
	SIM_OWNER = 33
};

struct sim_hold {
	int caller;        /* 0: no hold */
	int is_shared;
	uint64_t token;
	int64_t asked_at;  /* before the store could grant it */
	int64_t end_at;    /* the end of the promise */
};

struct sim_judge {
	struct sim_net *net;
	struct sim_hold holds[SIM_LOCKS][SIM_CALLERS]; /* by caller */
	uint64_t last_exclusive[SIM_LOCKS], last[SIM_LOCKS]; /* tokens */
	int64_t lost_at;   /* the store has lost keys; -1: never */
	int64_t set_forward_at; /* the store's clock: leases end early; -1 */
	int64_t set_back_ms;    /* in all: leases end late, and tokens may
				 * fall if the store loses them */
	struct {
		unsigned int life, claims;
	} over[SIM_CALLERS]; /* the last ended claim */
	uint64_t grants, conflicts, renewals, releases, faults;
	char fault[160];   /* the first */
};

/* The owner of a caller's claim, the n-th of the caller's life. */
void sim_judge_owner(char out[SIM_OWNER], int caller, unsigned int life,
		     unsigned int claims);

/* A hold begins, or has another end.  `hold` is copied. */
void sim_judge_hold(struct sim_judge *j, int lock, const struct sim_hold *hold);
void sim_judge_renew(struct sim_judge *j, int lock, int caller, int64_t end_at);

/* The holder has given the hold up, or has been told of the loss. */
void sim_judge_end(struct sim_judge *j, int lock, int caller);

/* The caller says: the store has no entry of the claim any longer. */
void sim_judge_over(struct sim_judge *j, int caller, unsigned int life,
		    unsigned int claims);

/* Look for holds of ended claims in the store. */
void sim_judge_store(struct sim_judge *j);

/* Any other rule is broken. */
void sim_judge_fault(struct sim_judge *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
