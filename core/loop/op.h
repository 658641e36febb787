/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op: a verb for a claim, from the submission until the end.
 *
 * A claim of the core embeds two ops: the first asks (an attempt or a renewal),
 * the second releases.  Both may be under way at a time.  The claim fills in
 * the first part and submits the op (core/loop/engine.h).  The store's protocol
 * sends it and ends it.  The engine calls done() exactly once a submission,
 * with the mutex held and no function of the protocol on the stack.  In done()
 * and from then on the op is the claim's again: it may be submitted anew, or
 * freed.
 *
 * All of it is under the engine's mutex.
 */
#ifndef DLOCK_CORE_LOOP_OP_H
#define DLOCK_CORE_LOOP_OP_H

#include <dlock/backend.h>

#include "core/base/alarm.h"

struct dlki_engine;
struct dlki_link;

enum dlki_verb {
	DLKI_GREET,   /* of a connection, not of a claim: never submitted */
	DLKI_ATTEMPT, /* ask for the claim, also if it is ours already */
	DLKI_RENEW,   /* begin the lease anew, if the claim stands */
	DLKI_RELEASE  /* give the claim up, in whatever state it is */
};

enum dlki_op_state {
	DLKI_OP_IDLE,   /* the claim's */
	DLKI_OP_QUEUED, /* not sent, not even in part */
	DLKI_OP_FLIGHT, /* in a link's buffer, or sent */
	DLKI_OP_ENDED   /* done() is due */
};

enum dlki_outcome {
	DLKI_NO_OUTCOME,
	DLKI_GRANTED,    /* ATTEMPT.  See token, since, lease_ms */
	DLKI_BUSY,       /* ATTEMPT.  See look_in_ms, store_clock_us */
	DLKI_ANSWERED,   /* RENEW, RELEASE.  See stood, since */
	DLKI_AGAIN,      /* certainly not carried out: the claim may submit the
			  * op anew if it still wants it */
	DLKI_FAILED,     /* for good.  See error, residue */
	DLKI_UNANSWERED, /* the store may have carried the op out, or may
			  * still: the connection is gone, or the deadline has
			  * come, or the op was cancelled */
	DLKI_UNSENT      /* deadline or cancel, and the store never sees it */
};

/* May the store have an entry of the claim after the op? */
enum dlki_residue { DLKI_RESIDUE_NONE, DLKI_RESIDUE_MAYBE };

struct dlki_op {
	/* In, from the claim. */
	enum dlki_verb verb;
	const struct dlk_request *request; /* borrowed until done() */
	uint64_t id;       /* ATTEMPT: new for each attempt, never used again.
			    * A pushed grant names it */
	uint64_t token;    /* RENEW, RELEASE: of the grant, 0: unknown.  Out on
			    * GRANTED: the fencing token or 0 */
	uint64_t token_used; /* RELEASE: the largest token of the claim's range
			    * that a hold was given; 0: only `token` */
	dlk_time deadline; /* done() comes by then; or DLK_FOREVER */
	int again;         /* an earlier request of the claim may stand: the
			    * store looks for our entry */
	void (*done)(struct dlki_op *op, dlk_time now);

	/* Out, for done(). */
	enum dlki_outcome outcome;
	enum dlki_residue residue;
	dlk_time since;    /* read before the write of the request's first
			    * byte; 0: never written */
	int64_t lease_ms;  /* GRANTED, ANSWERED: length of the lease from
			    * `since`; the terms' lease, or less */
	int64_t look_in_ms; /* BUSY: ask again after so long, unless woken; 0:
			    * the store names no time */
	uint64_t store_clock_us; /* BUSY: of the store, when it evaluated the
			    * request; 0: unknown */
	int stood;         /* ANSWERED: the claim stood */
	struct dlk_error *error; /* FAILED: the engine's, gone after done();
			    * NULL: no memory */

	/* The engine's. */
	struct dlki_engine *engine;
	enum dlki_op_state state;
	struct dlki_op *next, *last; /* in a queue */
	struct dlki_link *link;      /* FLIGHT */
	uint64_t serial;             /* ... and the slot there */
	struct dlki_alarm alarm;     /* the deadline */
};

#endif
