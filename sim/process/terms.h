/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of a play: a seed draws them before the play begins. */
#ifndef DLOCK_SIM_PROCESS_TERMS_H
#define DLOCK_SIM_PROCESS_TERMS_H

#include <stddef.h>

#include "sim/process/judge.h"
#include "sim/process/sched.h"

enum { SIM_TTL_MS = 1000 };

struct sim_scene;

struct sim_terms {
	const struct sim_scene *scene;

	/* Of the store, with sim_scene.draw(). */
	char uri[320];
	char plain[320];  /* the same store, without rehearsals */
	int ports;        /* the clients are spread over so many, which differ
			   * in the last digit; 0: all have the URI's.  With
			   * sim_scene.subside a stranger has the next */
	int64_t ttl_ms;   /* the longest lease */
	int64_t linger_ms; /* by which a claim may outlive the lease */
	int is_deaf;      /* no wants are heard: no keep=, no passes= */
	int mutual;       /* all names are mutexes */
	int faults;       /* an answer may be late, and a hold may be lost */
	int overlaps;     /* a hold may be lost before the holder can know */
	int holds_long;   /* callers hold for leases */
	int crowded;      /* all clients want a single name */
	int slow;         /* an answer takes a twelfth of the ttl */
	int upgrades;     /* readers become writers */
	int begins_upgrades; /* ... and leave an upgrade that is begun */
	int starts_releases; /* ... and so is the release of the reader */
	int no_threads;   /* the clients have none */
	int ticks;        /* ... and the program's loop cannot poll */
	int short_leases; /* with terms of holds: shorter than half the ttl */
	int begins_both;  /* multi-locks are taken without a waiting thread */
	int resizes;      /* semaphores are resized */
	int rushes;       /* the clients want a single name, and resize or
			   * upgrade again and again */
	int observes;     /* callers look at locks, and open clients */
	int hasty;        /* waits are cancelled before they begin, and
			   * callers' own clients closed in the midst */
	int polls;        /* holders look at the hold's descriptor, and at the
			   * time left */
	int closes_all;   /* with closes: beside every kind of call, and in
			   * half of the plays without a waiting thread */
	int64_t close_ms; /* a release returns so soon; with ask_ms */
	int64_t ask_ms;   /* after the timeout a call has returned */
	int64_t fresh_ms; /* a new hold has so much time left; 0: any */
	int64_t late_ms;  /* a free lock has a holder so soon, but for faults */

	/* Of a fleet; a bit for each server. */
	char other[320];     /* the URI of another pool of the same servers */
	unsigned int others; /* in that pool */
	unsigned int well;   /* without faults, while another server has some */
	unsigned int far;    /* too slow for requests that end with close= */
	int forgets;         /* servers lose keys */

	/* Of the play. */
	struct sim_sched_weather sched;
	struct sim_rules rules;
	int calm;     /* the store answers at once, and no hold is lost */
	int may_fail; /* an answer may come too late */
	int may_lose, may_break, may_cancel;
	int well_may_fail, well_may_lose; /* though the server has no faults */
	int revocable;  /* holders of permits ask to be told */
	int options;    /* of acquires */
	int closes;     /* a client is closed while callers wait */
	uint64_t memory_rate, memory_burst; /* sim_allocation_weather(); 0:
					     * there is enough */
	int exhausts;   /* ... and for leases all allocations fail */
	int64_t nap_ns; /* a hold is a few naps of up to so long */
};

/* `scarce`: memory is. */
void sim_terms_draw(struct sim_terms *t, const struct sim_scene *scene,
		    int scarce, struct sim_chance *chance);

/* Draw whether, in one of `n` plays, by a chance of the question's own, which
 * moves no other draw. */
int sim_terms_draws(const struct sim_chance *chance, uint64_t question,
		    const char *site, size_t n);

/* Append a parameter to the URI. */
void sim_terms_add(struct sim_terms *t, const char *format, size_t value);

/* Print the terms. */
void sim_terms_tell(const struct sim_terms *t);

#endif
