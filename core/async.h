/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls: operations without a waiting thread.
 *
 *    NEW
 *     v
 *   READY --the turn has come--> RUNNING --it would sleep--> PARKED
 *     ^                           ^ | |                        |
 *     |      in a batch: its turn | | \--the answer is to come--> ASKING
 *     |                   ASKING -/ |                          |
 *     \-- woken, or it is time; or the answer has come --------/
 *                                   \--the end--> OVER --callback-->
 *
 * A call that is not RUNNING can also end without the async job, which may be
 * in the backend for long: see overdue.h.
 *
 * BATCHES
 *  The async job runs the calls that are READY without waiting for the store's
 *  answers, if the store can.  So the requests share a round trip.  Then the
 *  job runs the calls that are ASKING again, and waits for each.  In a client
 *  without threads the job waits for no answer: the store tells of each.
 */
#ifndef DLOCK_CORE_ASYNC_H
#define DLOCK_CORE_ASYNC_H

#include <dlock/async.h>

#include "core/acquire.h"
#include "core/asyncs.h"
#include "core/release.h"

enum dlki_async_state {
	DLKI_ASYNC_NEW,
	DLKI_ASYNC_READY,
	DLKI_ASYNC_RUNNING,
	DLKI_ASYNC_ASKING,
	DLKI_ASYNC_PARKED,
	DLKI_ASYNC_OVER
};

struct dlki_async;
struct dlki_multi_call;
struct dlki_question;

/* A call with other calls as parts.  Both functions are called with mu held,
 * and may release mu meanwhile. */
struct dlki_async_whole {
	/* An acquire has ended with EBUSY, in the async job: return the code
	 * to end it with. */
	int (*look)(struct dlki_async *part, struct dlk_error *err);

	/* A part is over, and may be gone afterwards. */
	void (*over)(struct dlki_async *part, int rc, dlock_hold *hold,
		     const struct dlk_error *err);
};

struct dlki_async {
	/* Constant. */
	struct dlock_client *client;
	dlock_done_fn done;            /* may be NULL */
	void *arg;
	uint64_t op;                   /* the number */
	dlock_hold *releasing;         /* or NULL; of an acquire: an upgrade
					* that is given back */
	struct dlki_question *question; /* or NULL; if both are: an acquire */
	struct dlki_claim *gate;       /* of an upgrade that is not over, with a
					* reference; or NULL */
	struct dlki_terms *terms;      /* an acquire's, or NULL */
	const struct dlki_async_whole *whole; /* not NULL: a part, which has no
					       * number and no callback */
	struct dlki_multi_call *multi; /* the multi-lock's call: this call
				        * itself, freed with it, or the whole of
				        * this part; or NULL */

	_Atomic uint64_t cancels;      /* not 0: cancelled */

	/* The async job's while the call runs, then under the client's
	 * mu. */
	struct dlki_acquire acquire;
	struct dlki_wait wait;
	struct dlki_giving giving;     /* of a release */

	/* Under the client's mu. */
	enum dlki_async_state state;
	bool roused;                   /* while it ran: it is to run again */
	bool woken;                    /* READY, and in the queue of that
					* name */
	bool asleep;                   /* the claim sleeps, as in wait.h */
	bool asks;                     /* the store answers the request
					* later */
	bool in_batch;                 /* RUNNING, and was ASKING: others may
					* be over without another wait */
	bool last;                     /* of the claim's holds that ends */
	int rc;                        /* once OVER */
	dlk_time sleeps_until;
	struct dlki_timer next;        /* PARKED: runs again */
	struct dlki_timer end;         /* see overdue.h */
	TAILQ_ENTRY(dlki_async) in_queue;

	/* Once OVER. */
	dlock_hold *hold;              /* if granted */
	char *text;                    /* of the error; NULL: no memory */
};

/* Make a call, not yet entered, or NULL: no memory. */
struct dlki_async *dlki_async_new(struct dlock_client *client,
				  dlock_done_fn done, void *arg);
void dlki_async_free(struct dlki_async *call);

/* The rest needs the client's mu. */

/* Reserve room for another call: after that, a call can be entered and end. */
int dlki_async_reserve(struct dlock_client *client, struct dlk_error *err);

/* Enter the call: it is the client's, and has a number. */
void dlki_async_enter(struct dlki_async *call);

/* Make the call READY. */
void dlki_async_ready(struct dlki_async *call);

/* Make the call READY at `at`, or when roused. */
void dlki_async_pause(struct dlki_async *call, dlk_time at);

/* Make the next READY call RUNNING, and return it; NULL: no call is READY until
 * `*until`. */
struct dlki_async *dlki_async_next(struct dlock_client *client,
				   dlk_time *until);

/* The call runs, and the claim goes to sleep. */
void dlki_async_park(struct dlki_async *call, dlk_time until);

/* The async job has left the call, asleep; or ASKING. */
void dlki_async_leave(struct dlki_async *call);

/* Make the first ASKING call RUNNING, and return it, or NULL. */
struct dlki_async *dlki_async_next_asking(struct dlock_client *client);

/* The answer has come for an ASKING call. */
void dlki_async_go_on(struct dlki_async *call);

/* The store or the client has news for the call's claim: a sleeping call
 * overtakes the calls whose time to ask has come. */
void dlki_async_rouse(struct dlki_async *call);

/* Make the call OVER: no thread and no timer refers to it any more.  The
 * callback is due; a call without a callback is freed.  If the call is a part,
 * the whole goes on, which releases mu meanwhile. */
void dlki_async_over(struct dlki_async *call, int rc, dlock_hold *hold,
		     const struct dlk_error *err);

/* The call, if it is an upgrade, no longer refuses the last release of the read
 * side: it is about to end without a hold, to be cancelled, or to call back. */
void dlki_async_allow_release(const struct dlki_async *call);

/* The release of the read side `read` has begun.  Give back the upgrades that
 * are granted and cancelled, with the callback to come: then the call is OVER
 * once more, with ECANCELED.  A call that is granted later does the same. */
void dlki_async_take_back(const struct dlki_claim *read);

/* Take out the first call with a due callback, or NULL; the caller frees it. */
struct dlki_async *dlki_async_take(struct dlock_client *client);

#endif
