/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller: a script that acquires, renews, holds and releases locks by ops of
 * the engine, and draws the next step, until the weather is over.  The
 * caller keeps the rules of a claim: a lease counts from before the request was
 * written, and the caller releases until the store can have no entry.
 */
#ifndef DLOCK_SIM_CALLER_H
#define DLOCK_SIM_CALLER_H

#include "core/loop/state.h"
#include "sim/judge.h"
#include "sim/world/world.h"

/* A connection has so long to stand, and a request to be answered. */
enum { SIM_PATIENCE_MS = 1000 };

enum sim_caller_state {
	SIM_IDLE,      /* begins again at next_at */
	SIM_ASKING,
	SIM_PARKED,    /* asks again at next_at, or when woken */
	SIM_HELD,
	SIM_LOST,      /* the program was told, and releases at next_at */
	SIM_RELEASING,
	SIM_BREAKING,  /* takes a lock from its holders, or sets the
			* semaphore's limit; has no claim */
	SIM_CLEANING   /* released, but a late attempt may still arrive */
};

struct sim_caller {
	struct dlki_op ask, rel; /* `ask` first: the op's done() casts */
	struct dlki_alarm alarm;

	/* Constant, from before sim_caller_begin(). */
	struct dlki_engine *engine;
	struct sim_world *world;
	struct sim_judge *judge;
	const struct dlki_agreed *agreed;
	unsigned int life;       /* of the client */
	int number;              /* of all callers, from 1 */
	const struct sim_caller *others; /* of the client, with this caller */
	int n_others;
	size_t claim_size;       /* of the protocol */

	void *claim;             /* the store's, of the claim; or NULL; the
				  * client frees it behind the engine */
	unsigned int claims;     /* so far */
	enum sim_caller_state state;
	int is_dead;
	int lock;
	char key[8], owner[SIM_OWNER];
	char beside[SIM_OWNER];  /* of an upgrade: the owner of the reader's
				  * claim, and the token; else 0 */
	uint64_t beside_token;
	struct dlk_request request;
	dlk_time next_at, give_up_at, end_at, keep_until;
	int cancels;             /* gives up during an attempt, too */
	int downgrades;          /* at keep_until: shares the lock, holds on */
	char about[DLKI_ABOUT];  /* see struct dlki_op */
	int64_t asked_true;      /* when the claim was asked for first */
	int residue;             /* the store may have an entry of the claim */
	int may_arrive;          /* ... or may get an entry: an attempt was
				  * not answered */
	dlk_time clean_from;     /* releases written from then on are behind
				  * all attempts; 0: not known yet */
	uint64_t token;
	dlk_time busy_since;     /* of the last ask; and the store's clock */
	uint64_t busy_clock_us;
};

/* Begin to rest, then to ask. */
void sim_caller_begin(struct sim_caller *c);

/* The process is killed: end the hold, and submit no op. */
void sim_caller_end(struct sim_caller *c);

/* The weather is over: a hold is released soon. */
void sim_caller_heal(struct sim_caller *c);

/* Are both ops idle? */
int sim_caller_is_idle(const struct sim_caller *c);

/* News; each for the caller with the attempt `id`, 0 for all. */
void sim_caller_pushed(struct sim_caller *c, uint64_t id, uint64_t token,
		       uint64_t clock_us, int64_t lease_ms, dlk_time now);
void sim_caller_wake(struct sim_caller *c, uint64_t id, dlk_time now);

/* Renew the hold now: the client's server is another. */
void sim_caller_check(struct sim_caller *c, dlk_time now);

#endif
