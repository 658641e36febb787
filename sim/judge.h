/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: which caller may rely on which lock until when, in true time.
 *
 * Intervals of conflicting holds must be disjoint, and a hold's token must be
 * larger than the tokens of all conflicting holds before; unless the store has
 * declared a loss since either hold was asked for, or a client could not know
 * that the server had been stopped.  An ended hold stays ended.  When a claim
 * is over, the store has no hold of the claim.  A hold is lost only by a break
 * or by a loss of the store's.  A break reaches holds up to the token that the
 * store told to the breaker, all of these, and no later ones; but a store that
 * has an entry for each permit may give a claim for several permits a later
 * token than the token of an entry that the break met.  A downgraded hold is a
 * shared one in the store.  An upgrade does not conflict with the hold of the
 * reader beside it.
 *
 * The semaphore's holds have no more permits than there are.  After a resize
 * that was alone and was answered, there are so many for as long as the
 * semaphore is in use; else the most that anybody has asked for.
 */
#ifndef DLOCK_SIM_JUDGE_H
#define DLOCK_SIM_JUDGE_H

#include <stdint.h>

struct sim_net;

/* The last lock is a semaphore. */
enum {
	SIM_LOCKS = 4,
	SIM_SEMAPHORE = SIM_LOCKS - 1,
	SIM_PERMITS = 3,
	SIM_CALLERS = 18,
	SIM_OWNER = 33
};

struct sim_hold {
	int caller;        /* 0: no hold */
	int is_shared;
	uint32_t permits;  /* of the semaphore */
	uint64_t token;
	uint64_t beside;   /* of an upgrade: the reader's token; else 0 */
	int is_misled;     /* the client could not know of a server's stop */
	int64_t asked_at;  /* before the store could grant it */
	int64_t end_at;    /* the end of the promise */
	int is_broken;     /* in part, while the claim took its permits */
};

struct sim_judge {
	struct sim_net *net;
	struct sim_hold holds[SIM_LOCKS][SIM_CALLERS]; /* by caller */
	uint64_t last_exclusive[SIM_LOCKS], last[SIM_LOCKS]; /* tokens */
	int64_t lost_at;   /* the store has lost keys; -1: never */
	int64_t set_forward_at; /* the store's clock: leases end early; -1 */
	int64_t moved_at;  /* the store gave an item a new number; -1: never */
	int64_t linger_ms; /* entries of the store outlive a lease so long */
	int64_t set_back_ms;    /* in all: leases end late, and tokens may
				 * fall if the store loses them */
	int has_entry_of_permit; /* the store, for each permit of a claim */
	struct {
		unsigned int life, claims;
	} over[SIM_CALLERS]; /* the last ended claim */
	struct {
		int lock;
		const char *about; /* see struct dlki_op; NULL: no break */
		int64_t begun_at;
	} breaks[SIM_CALLERS]; /* under way */
	struct sim_broken {
		uint64_t to_come;  /* holds up to this token may be broken */
		uint64_t token;    /* holds up to this token are no more ... */
		int64_t at;        /* ... since then */
		int64_t ended_at;  /* the last break, done or unknown */
	} broken[SIM_LOCKS];
	struct {
		uint32_t most;   /* set by any caller; 0: never set */
		uint32_t limit;  /* set for sure; 0: not known */
		int64_t begun_at, since;
		int under_way, unclear;
		int64_t used_from; /* without a break until now */
	} permits; /* of the semaphore */
	uint64_t grants, conflicts, renewals, releases, faults;
	char fault[160];   /* the first */
};

/* The owner of a caller's claim, the n-th of the caller's life. */
void sim_judge_owner(char out[SIM_OWNER], int caller, unsigned int life,
		     unsigned int claims);

/* A hold begins, or has another end.  `hold` is copied. */
void sim_judge_hold(struct sim_judge *j, int lock, const struct sim_hold *hold);
void sim_judge_renew(struct sim_judge *j, int lock, int caller, int64_t since,
		     int64_t end_at);

/* Note that the holder shares the lock from now on; and later, that the store
 * has confirmed so. */
void sim_judge_share(struct sim_judge *j, int lock, int caller);
void sim_judge_shared(struct sim_judge *j, int lock, int caller, int64_t since,
		      const char *owner);

/* The store has said, before the end of the promise, that the hold is gone. */
void sim_judge_lost(struct sim_judge *j, int lock, int caller);

/* The holder has given the hold up, or has been told of the loss. */
void sim_judge_end(struct sim_judge *j, int lock, int caller);

/* The caller says: the store has no entry of the claim any longer. */
void sim_judge_over(struct sim_judge *j, int caller, unsigned int life,
		    unsigned int claims);

/* Note that the caller breaks a lock; `about` is borrowed until the caller
 * reports the end of the break: done, or unknown. */
void sim_judge_break(struct sim_judge *j, int caller, int lock,
		     const char *about);
void sim_judge_broken(struct sim_judge *j, int caller, int is_done);

/* Get the time until which the store has declared losses; or -1. */
static inline int64_t sim_judge_excused_until(const struct sim_judge *j)
{
	return j->lost_at > j->set_forward_at ? j->lost_at : j->set_forward_at;
}

/* Get the most permits that there can have been at the grant of the hold. */
uint32_t sim_judge_permits(const struct sim_judge *j,
			   const struct sim_hold *hold);

/* The caller sets the semaphore's limit; and how that ended: it is set, it is
 * not, or who knows. */
void sim_judge_resize(struct sim_judge *j, uint32_t limit);
void sim_judge_resized(struct sim_judge *j, uint32_t limit, int64_t begun_at,
		       int is_set, int is_known);

/* Look for holds of ended claims in the store, and for keys in the server that
 * belongs to no client. */
void sim_judge_store(struct sim_judge *j);

/* ... and the machines' sleep. */
int64_t sim_judge_linger_ms(const struct sim_judge *j);

/* Any other rule is broken. */
void sim_judge_fault(struct sim_judge *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
