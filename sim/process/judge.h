/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of a simulated process.  For the judge a hold stands from the
 * return of the acquire until the release begins.  No function here hands over
 * to another thread.
 */
#ifndef DLOCK_SIM_PROCESS_JUDGE_H
#define DLOCK_SIM_PROCESS_JUDGE_H

#include <dlock/dlock.h>

#include "sim/process/ears.h"
#include "sim/process/name.h"

/* The side that a hold is of. */
enum sim_side { SIM_WRITE, SIM_READ, SIM_PERMIT };

/* What an acquire's options make of a hold. */
struct sim_span {
	uint32_t permits;
	int64_t from, by; /* the hold ends by itself, not before `from` and
			   * not after `by`; SIM_FOREVER: never */
};

struct sim_rules {
	int may_lose;       /* a hold may be lost */
	int may_overlap;    /* ... before the holder can know */
	int scarce;         /* memory is: a release may not reach the store */
	int looks;          /* at all holds, whenever a caller is heard of */
	int64_t late_ns;    /* after which a free lock has its next holder */
	int64_t well_late_ns; /* ... though the server has no faults */
	int64_t fresh_ns;   /* so much time a new hold has left; 0: any */
	int64_t overdue_ns; /* after the timeout a call has returned */
	struct sim_hearing hearing;
};

void sim_judge_begin(const struct sim_rules *rules);

/* The server has declared a loss: until then holds of the names there may
 * overlap, and tokens may be out of order. */
void sim_judge_excuse(size_t member, int64_t until);

/* The acquire began at `asked_at`, after so many nanoseconds of stalls.
 * SIM_FOREVER: how long it took is not judged. */
void sim_judge_granted(struct sim_name *name, enum sim_side side,
		       dlock_hold *hold, int caller, int64_t asked_at,
		       int64_t stalled);

/* The hold is new, and the acquire returns now. */
void sim_judge_fresh(const dlock_hold *hold, int64_t stalled);

/* The hold is new.  Or the hold was extended. */
void sim_judge_agreed(const dlock_hold *hold, const struct sim_span *span);

/* The hold stood at `at`. */
void sim_judge_stands(const dlock_hold *hold, int64_t at);

/* Look at all holds: what is lost stays lost. */
void sim_judge_look(void);

/* Before and after the release, which may fail for a fault or may not. */
void sim_judge_releasing(dlock_hold *hold, int caller);
void sim_judge_released(struct sim_name *name, int rc, int may_fail);

/* The holder found the hold lost. */
void sim_judge_lost(const dlock_hold *hold);

/* May holds of the name be two, or be unknown to the store? */
int sim_judge_may_overlap(const struct sim_name *name);

/* A call with this timeout began at `begun`, and returns now. */
void sim_judge_returned(const char *call, int64_t begun, int64_t stalled,
			int64_t timeout_ms);

/* Count the grants. */
uint64_t sim_judge_grants(void);

#endif
