/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An op: a verb for a claim or for a lock, from the submission until the end.
 *
 * A claim of the core has up to two ops: the first asks (an attempt or a
 * renewal), the second releases.  Both may be under way at a time.  The claim
 * fills in the first part and submits the op (core/loop/engine.h).  The store's
 * protocol sends and ends the op.  The engine calls done() exactly once a
 * submission, with the mutex held and no function of the protocol on the stack.
 * In done() and from then on the op is the claim's again: it may be submitted
 * anew, or freed.  An op of the client, such as an inspection, is the caller's
 * in the same way.
 *
 * Some verbs take several requests, each sent after the answer to the request
 * before.  If the connection is lost after the first request was sent, the op
 * ends UNANSWERED, even if it is held in between.
 *
 * INSPECT and LIST report by rows.  The engine calls the function in `each` for
 * every row as the answer comes in, with the mutex held and functions of the
 * protocol on the stack: `each` copies, and must not call the engine.  Rows are
 * void unless the op ends ANSWERED.
 *
 * All members are under the engine's mutex.
 */
#ifndef DLOCK_CORE_LOOP_OP_H
#define DLOCK_CORE_LOOP_OP_H

#include <dlock/backend.h>
#include <sys/queue.h>

#include "core/base/heap.h"

struct dlki_engine;
struct dlki_link;

enum dlki_verb {
	/* Of a connection: never submitted. */
	DLKI_GREET,
	DLKI_PING,      /* only to have an answer */

	/* Of a claim. */
	DLKI_ATTEMPT,   /* ask for the claim, also for a claim already ours */
	DLKI_RENEW,     /* begin the lease anew, if the claim stands */
	DLKI_RELEASE,   /* give the claim up, in any state */
	DLKI_DOWNGRADE, /* turn an exclusive claim into a shared claim; when the
			 * op has ended, the caller sets the request's mode */
	DLKI_WATCH,     /* from now on, tell when others ask for the claim, by
			 * wanted() of the news; and set tokens aside for the
			 * claim.  Waits until the store's news are heard */

	/* Of a lock; the request has no owner. */
	DLKI_REVOKE,    /* tell the client with a watch on the lock's claim */
	DLKI_BREAK,     /* take the lock from the holders */
	DLKI_INSPECT,   /* report the holders, then the waiters */
	DLKI_RESIZE,    /* set the semaphore's limit to the request's */

	/* Of the store; `request` is NULL. */
	DLKI_LIST,      /* report the locks in use */

	DLKI_VERBS
};

enum dlki_op_state {
	DLKI_OP_IDLE,   /* the claim's */
	DLKI_OP_QUEUED, /* no request is under way */
	DLKI_OP_HELD,   /* likewise, and the protocol cannot send the op yet */
	DLKI_OP_FLIGHT, /* in a link's buffer, or sent */
	DLKI_OP_ENDED   /* done() is due */
};

enum dlki_outcome {
	DLKI_NO_OUTCOME,
	DLKI_GRANTED,    /* ATTEMPT.  See token, since, lease_ms */
	DLKI_BUSY,       /* ATTEMPT.  See look_in_ms, store_clock_us */
	DLKI_ANSWERED,   /* any other verb.  See stood, since */
	DLKI_AGAIN,      /* certainly not carried out: the claim may submit the
			  * op anew */
	DLKI_FAILED,     /* for good.  See error, residue */
	DLKI_UNANSWERED, /* the store may have carried the op out, or may
			  * still: the connection is gone, or the deadline has
			  * come, or the op was cancelled, or the answer makes
			  * no sense.  See error */
	DLKI_UNSENT      /* deadline or cancel, and the store never sees it */
};

/* May the store have an entry of the claim after the op? */
enum dlki_residue { DLKI_RESIDUE_NONE, DLKI_RESIDUE_MAYBE };

enum { DLKI_ABOUT = 64 };

struct dlki_op {
	/* In, from the claim. */
	enum dlki_verb verb;
	const struct dlk_request *request; /* borrowed until done() */
	uint64_t id;       /* ATTEMPT: new for each attempt, never used again,
			    * not 0.  A pushed grant names it */
	uint64_t token;    /* of the grant, 0: unknown.  Out on GRANTED: the
			    * fencing token or 0 */
	uint64_t token_used; /* RELEASE: the largest token of the claim's range
			    * given to a hold; 0: only `token` */
	dlk_time deadline; /* done() comes by then; or DLK_FOREVER */
	dlk_time lease_from; /* RENEW: `since` of the op that began the present
			    * lease; 0: unknown, or a pushed grant */
	dlk_time lease_heard; /* RENEW, RELEASE: when the other op ended.
			    * RELEASE: 0: unknown, or no thread waits for the
			    * end */
	int again;         /* an earlier request of the claim may stand: the
			    * store looks for our entry */
	int pushed;        /* RELEASE: a pushed grant brought the claim */
	int closing;       /* RELEASE: the client closes, and does not submit
			    * the op anew after AGAIN */
	int is_last;       /* ATTEMPT: the claim's caller waits no longer than
			    * for this answer */
	void *claim;       /* the store's state for the claim: claim_size bytes
			    * of the protocol, the claim's, zeroed before the
			    * first op, the same for both ops; not used when
			    * neither is under way.  NULL where claim_size is 0,
			    * and for ops without a claim */
	union {
		void (*participant)(const struct dlock_participant *p,
				    void *arg); /* INSPECT */
		void (*lock)(const struct dlock_lock_info *info,
			     void *arg); /* LIST */
	} each;
	void *each_arg;
	char *about;       /* BREAK, may be NULL: DLKI_ABOUT bytes of the
			    * caller's, "" at first.  The store writes down
			    * which holders the op is about; submitted anew
			    * with them, the op breaks no later holder */
	void (*done)(struct dlki_op *op, dlk_time now);

	/* Out, for done(). */
	enum dlki_outcome outcome;
	enum dlki_residue residue;
	dlk_time since;    /* read before the write of the first byte of the
			    * request, of the last request if there were
			    * several; 0: never written */
	int64_t lease_ms;  /* GRANTED, ANSWERED: length of the lease from
			    * `since`; the agreed lease, or less */
	int64_t look_in_ms; /* BUSY: ask again after so long, unless woken; 0:
			    * the store names no time.  Without DLOCK_CAP_WAKE
			    * no wake comes: ask more often */
	uint64_t store_clock_us; /* BUSY: the store's time of the evaluation; 0:
			    * unknown */
	int stood;         /* ANSWERED: the claim stood */
	int wanted;        /* WATCH, if stood: another client asks already */
	uint64_t token_last; /* WATCH, if stood: the store gives token + 1 to
			    * token_last to no other claim */
	struct dlk_error *error; /* the engine's, gone after done().  FAILED:
			    * NULL: no memory.  UNANSWERED: NULL: no answer
			    * came.  BUSY: an obstacle that does not go by
			    * itself, or NULL */

	/* The engine's. */
	struct dlki_engine *engine;
	enum dlki_op_state state;
	unsigned int requests;       /* sent so far */
	uint64_t tries;              /* the engine's, at the submission */
	TAILQ_ENTRY(dlki_op) in_queue;
	struct dlki_link *link;      /* FLIGHT */
	uint64_t serial;             /* ... and the slot there */
	struct dlki_alarm alarm;     /* the deadline */
};

#endif
