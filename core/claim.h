/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim: a request for a lock, from the first attempt until the store has no
 * trace of it.  A granted claim has up to two of the user's holds: the acquired
 * hold, and for a writer, the hold of the read side.
 *
 * The states are in docs/claim.md.  A released claim may be passed to another
 * waiting thread: the claim stays HELD then, see pass.h.  KEPT is in keep.h,
 * and CLEANING in cleanup.h.
 *
 * A single thread at a time may use the ticket: `busy`.  In some stores, a
 * renewal comes beside a watch.
 */
#ifndef DLOCK_CORE_CLAIM_H
#define DLOCK_CORE_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/claim_state.h"
#include "core/client.h"
#include "core/base/container.h"
#include "core/base/heap.h"
#include "core/owner.h"
#include "core/residue.h"
#include "core/terms.h"

struct dlki_record;
struct dlki_claim;
struct dlki_async;
struct dlki_multi_hold;

/* A member of the struct that `of` names. */
struct dlock_hold {
	enum { DLKI_OF_MULTI, DLKI_OF_CLAIM, DLKI_OF_CLAIM_READ } of : 8;
	enum dlk_mode side : 8;
	bool in_callback;              /* an on_event about the hold runs */
	uint32_t count;                /* acquires not yet released */
};

/* A multi-lock's hold, of which `hold` is the first member; NULL: a claim's. */
static inline struct dlki_multi_hold *dlki_hold_multi(const dlock_hold *hold)
{
	return hold->of == DLKI_OF_MULTI ? (struct dlki_multi_hold *)hold :
					   NULL;
}

enum dlki_watching { DLKI_UNWATCHED, DLKI_WATCH_BEGINS, DLKI_WATCHED };

/* Whether other sessions ask for the claim's lock, as far as the core knows:
 * see watch.h. */
struct dlki_watch {
	enum dlki_watching state;
	uint32_t passes;      /* since `wanted` was set */
	bool wanted;          /* another session asks */
	uint64_t wanted_turn; /* waiters with an earlier turn come first */
	dlk_time looked_at;   /* when the store last looked for askers */
	uint64_t token_first; /* the token that the store granted */
	uint64_t token_last;  /* for holds of this claim */
	dlk_time token_heard; /* when the store's clock, in microseconds, had
			       * reached the first token */
};

/* Has the store woken the asker? */
enum dlki_woken {
	DLKI_NOT_WOKEN,
	DLKI_WOKEN,     /* make another attempt */
	DLKI_WOKEN_VOID /* the same, and the next grant is void */
};

/* The progress of the callback that hands out the hold of an asynchronous
 * call. */
enum dlki_handing { DLKI_HANDED_OUT, DLKI_TO_HAND_OUT, DLKI_HANDING_OUT };

#define DLKI_EXPIRED INT64_MIN

enum { DLKI_WHY = 96 }; /* size of a text, with the NUL */

struct dlki_claim {
	/*
	 * End of the promise; DLK_FOREVER; DLKI_EXPIRED before there is a
	 * promise, and once the promise is over for good.  Lock-free, so
	 * dlock_check() can be used anywhere.  The thread that sees the time
	 * run out swaps DLKI_EXPIRED in.  A renewal swaps the new end in only
	 * for the end known to it.  So after a check that returned ELOST no
	 * check returns OK.
	 */
	_Atomic dlk_time valid_until;

	/* Constant. */
	struct dlock_client *client;   /* with a reference */
	struct dlki_record *record;    /* with a reference */
	struct dlki_terms *terms;      /* its own, or NULL */
	struct dlki_claim *beside;     /* an upgrade: the claim of the read
					* side, with a reference; else NULL */
	char owner[DLKI_OWNER_SIZE];

	/* The asker's: this client had the lock when the claim was entered. */
	bool behind;

	/* Under the client's mu. */
	enum dlki_claim_state state : 8; /* changed by dlki_claim_move()
					  * alone */
	enum dlki_woken woken : 8;     /* since the last sleep began */
	enum dlki_handing undelivered : 8; /* the callback that hands it out
					* comes first, then its events */
	uint8_t busy;                  /* threads that use the ticket */
	bool idle;                     /* RELEASING after KEPT: the program had
					* no hold of it, and is not told how
					* the release ends */
	bool downgraded;               /* SHARED in the store by now */
	bool cancelled;                /* end the wait */
	bool revocable;                /* tell the holder when others want the
					* lock */
	bool told_wanted;              /* the holder was told */
	bool afterwards;               /* `events` come after the release */
	bool queued;                   /* in the dispatcher's queue */
	bool at_risk;
	bool is_cleanup;               /* among the record's: see cleanup.h */
	bool is_short;                 /* of schedule.n_short */
	unsigned int refs;             /* user, asker, renewer, dispatcher,
					* upgrades */
	unsigned int events;           /* bits to deliver:
					* 1 << enum dlock_event */
	unsigned int upgrades;         /* beside this claim: claims that ask or
					* are not yet released, and calls */
	unsigned int upgrade_calls;    /* of these: calls, until the end, a
					* cancel, or the callback with a hold */
	uint64_t thread;               /* serial of the thread that acquired, or
					* DLKI_NO_THREAD */
	uint64_t token;                /* the hold's */
	struct dlki_claim_residue residue;   /* what the store may have of it */
	struct dlki_watch *watch;      /* NULL: the store was never asked */
	struct dlock_hold own, read;   /* the user's handles */
	dlk_time begun_at;             /* the acquire; once granted, the hold */
	dlk_time lease_until;          /* the lease's own end; DLK_FOREVER */
	union {
		uint64_t turn;         /* the asker's: the order of asking
					* within the client */
		dlk_time hold_until;   /* HELD: the hold's end even if the
					* lease is renewed; likewise */
		int64_t pause_ns;      /* a clean-up's: the last pause between
					* two releases */
	};
	struct dlki_timer work;        /* in schedule.work or schedule.clean */
	LIST_ENTRY(dlki_claim) in_list; /* PARKED: the handle's waits; HELD,
					* LOST: the record's holds */
	union {
		/* A claim is in one of these at most.  In none, `place` and
		 * `tqe_prev` are 0. */
		struct dlki_timer expiry;          /* HELD: schedule.expiry */
		TAILQ_ENTRY(dlki_claim) in_parked; /* PARKED: see parked.h */
		LIST_ENTRY(dlki_claim) in_cleanups; /* the record's */
	};
	union {
		struct dlki_claim *passed; /* the asker's: the claim given to
					    * this waiter instead */
		STAILQ_ENTRY(dlki_claim) in_events; /* a hold's: dispatcher's
						     * queue */
	};
	int lost_fd;                   /* eventfd or -1 */
	int wanted_fd;                 /* eventfd or -1 */
	struct dlki_async *call;       /* the asker, or NULL: a thread */
	pthread_cond_t *cond;          /* a thread sleeps here; NULL: no thread
					* has slept yet */
	char *why;                     /* see dlki_claim_why() */

	/* The backend's; the pointers are constant. */
	_Alignas(max_align_t) struct dlk_ticket ticket[];
};

/* The claim of a hold that is not a multi-lock's. */
static inline struct dlki_claim *dlki_hold_claim(const dlock_hold *hold)
{
	return hold->of == DLKI_OF_CLAIM ?
		       DLKI_CONTAINER_OF(hold, struct dlki_claim, own) :
		       DLKI_CONTAINER_OF(hold, struct dlki_claim, read);
}

/* With mu held: make a claim, ASKING, with a single reference, the asker's, and
 * with terms, which may be NULL. */
int dlki_claim_new(struct dlki_claim **out, struct dlki_record *record,
		   enum dlk_mode mode, const struct dlki_terms *terms,
		   struct dlk_error *err);

/* With mu held: make a new claim the upgrade of `read`, which may be NULL; the
 * asker or the holder of the upgrade has ended. */
void dlki_claim_upgrade(struct dlki_claim *claim, struct dlki_claim *read);
void dlki_claim_end_upgrade(struct dlki_claim *claim);

/* A call that upgrades begins, with an upgrade_call; or ends, without. */
void dlki_claim_begin_upgrades(struct dlki_claim *read);
void dlki_claim_end_upgrades(struct dlki_claim *read);

/* Is the last release of the read side refused: by a call that upgrades, or by
 * an upgrade that the program holds? */
bool dlki_claim_has_upgrade(const struct dlki_claim *read);

/* With mu held: free a claim that was never entered. */
void dlki_claim_discard(struct dlki_claim *claim);

/* Without mu: does the promise still hold?  Swaps DLKI_EXPIRED in if not. */
int dlki_claim_valid(struct dlki_claim *claim);

/* Without mu: 0; or ELOST, the promise of an upgradeable hold is over, of the
 * read side or of the gate, which may be NULL. */
int dlki_claim_check_upgradeable(struct dlki_claim *read,
				 struct dlki_claim *gate,
				 struct dlk_error *err);

/* Without mu: return for the claim's holds the results of dlock_check(),
 * dlock_remaining_ms(), dlock_warning_ms() and dlock_hold_fd().  The first two
 * take no lock. */
int dlki_claim_check(struct dlki_claim *claim);
int64_t dlki_claim_remaining_ms(struct dlki_claim *claim);
int64_t dlki_claim_warning_ms(struct dlki_claim *claim);
int dlki_claim_fd(struct dlki_claim *claim, struct dlk_error *err);

/* With mu held: return the eventfd at `fd`, made if need be, and readable if
 * `told`; or an error. */
int dlki_claim_eventfd(int *fd, bool told, struct dlk_error *err);

/* The rest needs the client's mu.  See lifecycle.h as well. */

/* Has the claim an asker: ASKING or PARKED? */
static inline bool dlki_claim_asks(const struct dlki_claim *claim)
{
	return claim->state <= DLKI_PARKED;
}

/* Does the program have a hold of the granted claim? */
static inline bool dlki_claim_has_hold(const struct dlki_claim *claim)
{
	return claim->own.count > 0 || claim->read.count > 0;
}

/* The progress of the callback when the asker gets a hold. */
static inline enum dlki_handing dlki_claim_handing(
	const struct dlki_claim *claim)
{
	return claim->call ? DLKI_TO_HAND_OUT : DLKI_HANDED_OUT;
}

/* Does the claim exclude readers?  The ticket's own mode belongs to the thread
 * that uses the ticket. */
static inline bool dlki_claim_excludes(const struct dlki_claim *claim)
{
	return claim->own.side == DLK_EXCLUSIVE && !claim->downgraded;
}

/* Does the state fit to the rest of the claim? */
static inline bool dlki_claim_is_sound(const struct dlki_claim *claim)
{
	bool cleanup = claim->is_cleanup;

	if (claim->state == DLKI_HELD)
		return !cleanup && claim->residue.is != DLKI_NONE;
	if (atomic_load_explicit(&claim->valid_until, memory_order_relaxed) !=
	    DLKI_EXPIRED)
		return false;
	if (claim->state == DLKI_KEPT || claim->state == DLKI_CLEANING)
		return cleanup;
	if (claim->state == DLKI_GONE)
		return !cleanup && claim->ticket->id == 0 &&
		       claim->residue.is == DLKI_NONE;
	return true;
}

/* A move outside the table, or into a state that does not fit, is a bug:
 * assert() says so.  Without assert() the program's log gets an error, and the
 * promise ends. */
void dlki_claim_wrong(struct dlki_claim *claim, enum dlki_claim_state from);

/* Change the state.  Inline, because most of the work depends on `to` alone. */
static inline void dlki_claim_move(struct dlki_claim *claim,
				   enum dlki_claim_state to)
{
	enum dlki_claim_state from = claim->state;

	claim->state = to;
	if (!dlki_claim_may_follow(from, to) || !dlki_claim_is_sound(claim))
		dlki_claim_wrong(claim, from);
}

/* Is the claim over for the program: RELEASING, CLEANING or GONE? */
static inline bool dlki_claim_is_over(const struct dlki_claim *claim)
{
	return claim->state >= DLKI_RELEASING;
}

void dlki_claim_ref(struct dlki_claim *claim);
void dlki_claim_unref(struct dlki_claim *claim); /* may free the claim */

/* Wait until no other thread uses the ticket, then use the ticket; 0 if
 * `deadline`, which a cancel of the caller's wait brings forward, came
 * first. */
int dlki_claim_seize(struct dlki_claim *claim, dlk_time deadline);
void dlki_claim_yield(struct dlki_claim *claim);

/* Say why the claim is at risk or lost; a long text is cut between two
 * characters.  dlki_claim_why(): the text, "" at first. */
void dlki_claim_explain(struct dlki_claim *claim, const char *why);
const char *dlki_claim_why(const struct dlki_claim *claim);

/* Return ELOST, with that text. */
int dlki_claim_fail_lost(const struct dlki_claim *claim, struct dlk_error *err);

#endif
