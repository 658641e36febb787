/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: an opened store, and the core's state for the store.
 */
#ifndef DLOCK_CORE_CLIENT_H
#define DLOCK_CORE_CLIENT_H

#include <dlock/backend.h>
#include <stdatomic.h>

#include "core/ask.h"
#include "core/event.h"
#include "core/log.h"
#include "core/pump.h"
#include "core/asyncs.h"
#include "core/schedule.h"
#include "core/owner.h"
#include "core/base/blocks.h"
#include "core/base/patience.h"
#include "core/base/process.h"
#include "core/base/slots.h"

/* RUNS: in dlock_close(), or for a client without threads in dlock_process().
 * Once the client ENDS, the store is gone and callbacks are left.  OVER: so are
 * the callbacks, and only a second dlock_close() is left. */
enum dlki_close_state {
	DLKI_CLOSE_NONE,
	DLKI_CLOSE_BEGUN,
	DLKI_CLOSE_RUNS,
	DLKI_CLOSE_ENDS,
	DLKI_CLOSE_OVER
};

struct dlock_client {
	/* Constant once opened. */
	uint64_t process;                /* dlki_process() of the opener */
	const struct dlock_backend *backend;
	struct dlk_uri *uri;
	char *label;
	dlock_event_fn on_event;
	void *arg;
	int64_t request_ms, close_ms, max_hold_ms, keep_ms;
	uint32_t passes;
	int can_watch;                   /* the store has watch_wanted ... */
	int watches;                     /* ... and tells at once: CAP_WANTED */
	int sends_releases;              /* so a release waits for no answer */
	struct dlk_session *session;  /* the backend's, in a separate block */
	struct dlki_attendant *attendant; /* of a client without threads: of
				       * its own; else NULL */
	uint32_t require;                /* as dlock_options says */
	int once;

	struct dlki_log log;             /* locks itself */
	struct dlki_ask ask;             /* likewise */
	struct dlki_pump pump;           /* likewise, and under mu */
	struct dlki_rousers rousers;     /* likewise */
	_Atomic uint64_t ends;       /* 1 once closing */
	_Atomic int opened;          /* see guard.h */
	pthread_t opener, closer;    /* of dlock_open_start(), _close_start() */
	int has_opener;              /* constant once there is a client */
	_Atomic dlk_time away_since; /* the store; 0: the store answers */

	/*
	 * mu protects all the members below, the records, the handles' lists
	 * and every claim but where claim.h says otherwise.  A thread that
	 * holds mu takes no other lock but a common thread's (base/common.h),
	 * and calls no backend and no callback.
	 */
	pthread_mutex_t mu;
	pthread_cond_t changed;        /* a call, request or callback is over */
	uint64_t refs;                   /* of this struct: opener, records,
					  * claims */
	uint64_t turns;              /* claims ever entered */
	unsigned int calls;          /* public calls with use of the backend */
	int closing;
	enum dlki_close_state close_is;
	struct dlki_async *open_call;  /* by dlock_open_start(), in a client
				        * without threads: not begun */
	int opens;                     /* a thread has begun it */
	struct dlki_async *close_call; /* by dlock_close_start() */
	dlk_time holder_asked;           /* when a message last needed a
					  * holder */
	struct dlki_claim *given_up;     /* dlock-loop's: see keep.h */
	LIST_HEAD(, dlki_multi_wait) waits; /* under way */
	void *records;                  /* tsearch tree of struct dlki_record */
	struct dlki_slots slots;         /* claims by ticket id */
	struct dlki_owners owners;
	struct dlki_blocks claims;       /* with their tickets */
	struct dlki_schedule schedule;
	struct dlki_events events;
	struct dlki_asyncs asyncs;
	struct dlock_stats stats;
};

/* Count a duration; a negative one counts as 0. */
void dlki_times_add(struct dlock_times *times, dlk_time ns);

#endif
