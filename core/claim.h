/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim: one request for a lock, from the first asking until the store holds
 * nothing of it any more.  While it is granted, up to two holds of the user's
 * stand for it: the one that was acquired, and, under a writer, its read side.
 *
 *   ASKING --granted--> HELD --release--> OVER
 *      |                  \--lost--> LOST --release--> OVER
 *      \--gave up--> OVER
 *
 * One thread at a time may use the ticket: `busy`.  A claim whose release the
 * store did not confirm stays, OVER, with the keeper, which asks again.
 */
#ifndef DLOCK_CORE_CLAIM_H
#define DLOCK_CORE_CLAIM_H

#include <stdatomic.h>

#include "core/client.h"
#include "core/heap.h"
#include "core/name.h"
#include "core/owner.h"

struct dlki_record;
struct dlki_claim;
struct dlki_multi_hold;

struct dlock_hold {
	struct dlki_claim *claim;      /* NULL: a multi-lock's hold */
	struct dlki_multi_hold *multi;
	enum dlk_mode side;
	uint32_t count;                /* acquires not yet released */
};

enum dlki_claim_state { DLKI_ASKING, DLKI_HELD, DLKI_LOST, DLKI_OVER };

#define DLKI_EXPIRED INT64_MIN

struct dlki_claim {
	/*
	 * End of the promise; DLK_FOREVER; DLKI_EXPIRED once it is over for
	 * good.  Lock-free, so that dlock_check() can be used anywhere: whoever
	 * sees the time run out swaps DLKI_EXPIRED in, and a renewal swaps the
	 * new end in only for the one that it knew.  So a check that said ELOST
	 * can never be followed by one that says OK.
	 */
	_Atomic dlk_time valid_until;

	/* Constant. */
	struct dlock_client *client;   /* with a reference */
	struct dlki_record *record;    /* with a reference */
	struct dlk_ticket *ticket;     /* behind this struct, in its block */
	uint64_t thread;               /* serial of the thread that acquired */
	char owner[DLKI_OWNER_SIZE];

	/* Under the client's mu. */
	enum dlki_claim_state state;
	unsigned int refs;             /* user, asker, keeper, dispatcher */
	int busy;                      /* a thread uses the ticket */
	const dlock_hold *in_callback;  /* the one that it is about */
	int woken;                     /* since the last attempt began */
	int lost_early;                /* dlk_lost() came before the grant */
	int unsure;                    /* a request of ours may still arrive */
	int needs_cleaning;            /* the keeper is to release it */
	int downgraded;                /* the store has it SHARED by now */
	struct dlock_hold own, read;   /* the user's handles */
	dlk_time granted_at;
	dlk_time lease_until;          /* the lease's own end, whatever max_hold
					* says; DLK_FOREVER */
	dlk_time server_until;         /* the store has forgotten it by then */
	int64_t pause_ns;              /* before the next try to clean up */
	struct dlki_timer work;        /* in lease.work or lease.clean */
	struct dlki_timer expiry;      /* in lease.expiry */
	struct dlki_claim *held_next, **held_link;  /* record's list of holds */
	struct dlki_claim *wait_next, **wait_link;  /* handle's list of waits */
	struct dlki_claim *event_next; /* dispatcher's queue */
	unsigned int events;        /* bits to deliver: 1 << enum dlock_event */
	int queued;
	int at_risk;
	int lost_fd;                   /* eventfd or -1 */
	int cond_ready;
	pthread_cond_t cond;           /* the waiter's parking place */
	char why[96];
};

/* Without mu: a new claim, ASKING, with one reference, the asker's. */
int dlki_claim_new(struct dlki_claim **out, struct dlki_record *record,
		   enum dlk_mode mode, struct dlk_error *err);

/* Without mu: free a claim that was never entered. */
void dlki_claim_discard(struct dlki_claim *claim);

/* Without mu: is the promise still on?  Swaps DLKI_EXPIRED in if not. */
int dlki_claim_valid(struct dlki_claim *claim);

/* The rest needs the client's mu. */

/* Give it a ticket id and room in the schedule. */
int dlki_claim_enter(struct dlki_claim *claim, struct dlk_error *err);

void dlki_claim_ref(struct dlki_claim *claim);
void dlki_claim_unref(struct dlki_claim *claim); /* may free it */

/* Wait until no other thread uses the ticket, then use it; 0 if `deadline`
 * came first. */
int dlki_claim_seize(struct dlki_claim *claim, dlk_time deadline);
void dlki_claim_yield(struct dlki_claim *claim);

/* Set `why`, cut between two characters where it is too long. */
void dlki_claim_explain(struct dlki_claim *claim, const char *why);

/* HELD becomes LOST: out of the schedule, descriptor, clean-up, and an event
 * while there is a dispatcher. */
void dlki_claim_lose(struct dlki_claim *claim, const char *why);

/* The store may still hold it: the keeper is to release it, `pause_ms` from
 * now at first. */
void dlki_claim_clean_later(struct dlki_claim *claim, int64_t pause_ms);

/* The store holds nothing of it: forget the id, and the keeper's duty. */
void dlki_claim_gone(struct dlki_claim *claim);

/* The descriptor that polls readable once it is lost, or an error code. */
int dlki_claim_fd(struct dlki_claim *claim, struct dlk_error *err);

#endif
