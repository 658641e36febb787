/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of a simulated process.  For the judge a hold stands from the
 * return of the acquire until the release begins.  No function here hands over
 * to another thread.
 */
#ifndef DLOCK_SIM_PROCESS_JUDGE_H
#define DLOCK_SIM_PROCESS_JUDGE_H

#include <dlock/dlock.h>

enum sim_lock_kind { SIM_MUTUAL, SIM_READ_WRITE, SIM_PERMITS };

/* The side that a hold is of. */
enum sim_side { SIM_WRITE, SIM_READ, SIM_PERMIT };

/* Another number of permits than the handles name. */
struct sim_resize {
	uint32_t set;      /* the last, if known; else 0 */
	uint32_t most;     /* the largest of all that were asked for */
	size_t under_way;
	int unclear;       /* in which order several were set */
	int unanswered;    /* a number may still be set */
	int64_t begun_at, since;
};

/* The servers of a fleet. */
enum { SIM_MEMBERS = 4 };

struct sim_name {
	enum sim_lock_kind kind;
	size_t member;       /* the server with the name, from 0 */
	int is_well;         /* ... has no faults, while another server has */
	uint32_t permits;
	struct sim_resize resize;
	uint64_t largest[2]; /* tokens of write sides, and of the others */
	int64_t free_since;  /* while there is no hold */
	int64_t used_from;   /* while there are holds */
	size_t holds;
};

struct sim_rules {
	int may_lose;       /* a hold may be lost */
	int well_may_lose;  /* ... though the server has no faults */
	int may_overlap;    /* ... before the holder can know */
	int scarce;         /* memory is: a release may not reach the store */
	int looks;          /* at all holds, whenever a caller is heard of */
	int64_t late_ns;    /* after which a free lock has its next holder */
	int64_t well_late_ns; /* ... though the server has no faults */
	int64_t fresh_ns;   /* so much time a new hold has left; 0: any */
	int64_t overdue_ns; /* after the timeout a call has returned */
	int64_t told_ns;    /* after the loss the holder is told */
	int64_t asked_ns;   /* ... and after a revoke; 0: perhaps never */
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

/* Look at all holds: what is lost stays lost. */
void sim_judge_look(void);

/* Before and after the release, which may fail for a fault or may not. */
void sim_judge_releasing(dlock_hold *hold, int caller);
void sim_judge_released(struct sim_name *name, int rc, int may_fail);

/* Before and after a resize, which began at `begun_at`. */
void sim_judge_resizing(struct sim_name *name, uint32_t permits);
void sim_judge_resized(struct sim_name *name, uint32_t permits,
		       int64_t begun_at, int rc);

/* The holder found the hold lost; the holder should know the event by now. */
void sim_judge_lost(const dlock_hold *hold);
void sim_judge_told(const dlock_hold *hold);

/* Before and after dlock_revocable(). */
void sim_judge_listening(const dlock_hold *hold);
void sim_judge_listens(const dlock_hold *hold);

/* A revoke that began at `begun_at` has succeeded.  A holder that listened by
 * then knows of the revoke soon. */
void sim_judge_revoked(const struct sim_name *name, int64_t begun_at);
void sim_judge_asked(const dlock_hold *hold);

/* For dlock_options.on_event. */
void sim_judge_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg);

/* A call with this timeout began at `begun`, and returns now. */
void sim_judge_returned(const char *call, int64_t begun, int64_t stalled,
			int64_t timeout_ms);

/* Count the grants. */
uint64_t sim_judge_grants(void);

#endif
