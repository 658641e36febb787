/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule of a client: which claims to renew, clean up or expire, and
 * when.
 *
 * "dlock-loop" (base/source.h) never calls a backend for the schedule:
 * dlock-loop declares claims lost when their time has run out, whatever the
 * store does at the time, and tells the renewer when work is due.  The renewer,
 * a job of "dlock-work" (base/job.h), calls the backend: it renews in batches,
 * and cleans up after releases without a confirmation.
 */
#ifndef DLOCK_CORE_SCHEDULE_H
#define DLOCK_CORE_SCHEDULE_H

#include "core/base/heap.h"
#include "core/base/job.h"
#include "core/base/source.h"

struct dlki_claim;
struct dlki_cleanups;
struct dlki_renewals;
struct dlock_client;

struct dlki_schedule {
	/* Under the client's mu. */
	struct dlki_heap work;     /* HELD claims by the time of their next
				    * renewal or check */
	struct dlki_heap clean;    /* claims whose release the store has not
				    * confirmed, by the time of the next try */
	dlk_time clean_from;       /* no clean-up is tried before this: the
				    * store was unreachable */
	int64_t clean_pause_ns;    /* the last such pause; 0: reachable */
	struct dlki_heap expiry;   /* claims by an earlier end of their promise;
				    * checked again when it comes */
	size_t n_short;            /* claims with renewals of a shorter lease
				    * than the store's */
	int64_t short_ms;          /* a third of the shortest lease */
	dlk_time armed;            /* when dlock-loop looks */
	int stop;

	/* Constant once started. */
	int64_t ttl_ms;            /* the session's */
	int64_t margin_ms;
	int64_t linger_ms;         /* by which a claim outlives the lease */
	int64_t interval_ms;       /* between renewals or checks; 0: none */

	/* Of a client without threads, on a store that answers later; else 0.
	 * No thread waits for the clean-ups and renewals under way.  While
	 * there are as many as there is room for, no more become due. */
	struct dlki_cleanups *cleanups;
	struct dlki_renewals *renewals;
	bool work_is_full, clean_is_full;
	/* With mu held, which is released meanwhile: wait for the renewals or
	 * the clean-up under way, until `deadline`, if the claim's is among
	 * them.  0: it is not.  Or NULL. */
	int (*hurry)(struct dlki_claim *claim, dlk_time deadline);

	struct dlki_source source; /* the schedule's time; locks itself */
	struct dlki_job job;       /* the renewer; likewise */
};

/* ---- Its threads: renewer.c --------------------------------------------- */

int dlki_threads_start(struct dlock_client *client, struct dlk_error *err);

/* Without mu, once `stop` is set.  Waits for the renewer's call of the
 * backend. */
void dlki_threads_stop(struct dlock_client *client);

/* ---- Its times: schedule.c ----------------------------------------------- */

/* Return by when the store has forgotten a lease of `lease_ms` requested
 * `now`. */
dlk_time dlki_schedule_forgotten(const struct dlki_schedule *schedule,
				 dlk_time now, int64_t lease_ms);

/* The rest needs the client's mu. */

/* Room in every heap for `n` claims: after that, scheduling cannot fail. */
int dlki_schedule_reserve(struct dlki_schedule *schedule, size_t n);

/* Have dlock-loop look at `at`, at the latest. */
void dlki_schedule_arm(struct dlki_schedule *schedule, dlk_time at);

/* A claim was granted: renew it in time, and note the end. */
void dlki_schedule_add(struct dlki_claim *claim);
void dlki_schedule_remove(struct dlki_claim *claim);

/* When to renew a claim's lease: after a third of the lease or of the client's
 * ttl, or where the store gave a shorter lease, a `part`th of the shorter
 * lease, unless the store says later.  DLK_FOREVER: not at all. */
dlk_time dlki_schedule_next(const struct dlki_claim *claim, int part);

/* Return how long a due renewal may wait: a sixth of the shortest lease.
 * INT64_MAX: there are no leases. */
int64_t dlki_schedule_slack_ms(const struct dlki_schedule *schedule);

/* Return by when a request must end for the next renewal to begin in time, also
 * of a future hold: after a sixth to a half of the shortest lease. */
dlk_time dlki_schedule_spare(const struct dlki_schedule *schedule,
			     dlk_time now);

/* Have the renewer renew the claim at `at`, or clean it up if necessary. */
void dlki_schedule_work(struct dlki_claim *claim, dlk_time at);

/* The same at once, without a detour by dlock-loop. */
void dlki_schedule_now(struct dlki_claim *claim);

/* Return when the renewer has work; DLK_FOREVER: no work. */
dlk_time dlki_schedule_due(const struct dlki_schedule *schedule);

/* A hold was granted: note the hold's end, which holds even if the lease is
 * renewed. */
void dlki_schedule_granted(struct dlki_claim *claim);

/* Say why a hold has reached the end that the options or the URI set; NULL: no
 * end was set.  It may be so late that `hold_until` is DLK_FOREVER. */
const char *dlki_schedule_end(const struct dlki_claim *claim);

/* The store has granted the ticket's lease: note the lease's end, and return
 * the end of the promise, which may be earlier. */
dlk_time dlki_schedule_promise(struct dlki_claim *claim);

/* Return when the first lease ends, which may be the only lease. */
dlk_time dlki_schedule_first_end(const struct dlki_claim *claim);

/* `hold_until` was moved: the lease may have to be renewed now. */
void dlki_schedule_extended(struct dlki_claim *claim);

/* How long the claim's promise lasts without a renewal, at most. */
int64_t dlki_schedule_lease_ms(const struct dlki_claim *claim);

/* How long a renewal of the claim may take. */
int64_t dlki_schedule_limit_ms(const struct dlki_claim *claim);

/* Return the result of dlock_warning_ms() for a held claim with `left_ms`
 * left. */
int64_t dlki_schedule_warning(const struct dlki_claim *claim, int64_t left_ms);

/* The promise was moved to `end`. */
void dlki_schedule_moved(struct dlki_claim *claim, dlk_time end);

#endif
