/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: who may rely on which lock until when, in true time.
 *
 * Intervals of conflicting holds must be disjoint, and a hold's token must be
 * larger than the tokens of all conflicting holds before; unless the store has
 * lost what it had since either was asked for.  A hold that has ended stays so.
 */
#ifndef DLOCK_SIM_JUDGE_H
#define DLOCK_SIM_JUDGE_H

#include <stdint.h>

struct sim_net;

enum { SIM_LOCKS = 4, SIM_HOLDS = 64 };

struct sim_hold {
	int caller;        /* 0: none */
	int is_shared;
	uint64_t token;
	int64_t asked_at;  /* before the store could grant it */
	int64_t end_at;    /* the end of the promise */
};

struct sim_judge {
	struct sim_net *net;
	struct sim_hold holds[SIM_LOCKS][SIM_HOLDS];
	uint64_t last_exclusive[SIM_LOCKS], last[SIM_LOCKS]; /* tokens */
	int64_t lost_at;   /* the store has lost what it had; -1: never */
	uint64_t grants, renewals, losses, releases, faults;
};

/* A hold begins, or has another end.  `hold` is copied. */
void sim_judge_hold(struct sim_judge *j, int lock, const struct sim_hold *hold);
void sim_judge_renew(struct sim_judge *j, int lock, int caller, int64_t end_at);

/* The holder has given it up, or has been told that it is lost. */
void sim_judge_end(struct sim_judge *j, int lock, int caller);

/* Any other rule is broken. */
void sim_judge_fault(struct sim_judge *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The store has lost what it had. */
void sim_judge_store_lost(struct sim_judge *j);

#endif
