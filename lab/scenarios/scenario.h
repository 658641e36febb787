/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: a guarantee of locks, and what is done to see whether it is kept.
 * One a file in lab/scenarios/cases/, which the build puts into the table
 * by its name: holder_killed.c defines lab_scenario_holder_killed.
 */
#ifndef DLOCK_LAB_SCENARIO_H
#define DLOCK_LAB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_trial;

/* What it needs; without, it is not run, and the reason told. */
enum {
	LAB_NEEDS_PROCESSES = 1, /* a store that other processes can use */
	LAB_NEEDS_SERVER = 2,    /* of our own, to do things to */
	LAB_NEEDS_PROXY = 4,     /* before a server of our own */
	LAB_NEEDS_FLUSH = 8,     /* it can be made to forget */
	LAB_NEEDS_FILL = 16,     /* ... and to run out of memory */
	LAB_NEEDS_WALL = 32,     /* its wall clock can be stepped */
	LAB_NEEDS_LIBRARY = 64,  /* more than a foreign command can do */
	LAB_NEEDS_LEASE = 128,   /* holds that expire */
	LAB_NEEDS_DEPTH = 256    /* a look into the server's store */
};

struct lab_scenario {
	const char *id;        /* "holder-killed" */
	const char *title;
	const char *guarantee; /* a sentence: what is to be kept */
	int place;             /* in tables: tens, small ones first */
	int needs;
	uint32_t caps;   /* DLOCK_CAP_ bits that declare it; a store that lacks
			  * one must refuse.  0: all stores declare it */
	bool measured;   /* it takes times: nothing else is to run beside it */
	bool fault;      /* something is done to store, network or holder */
	bool may_lose;   /* a store without DURABLE or CONSISTENT may lose holds
			  * here, if it says so in time */
	bool long_lease; /* of a DURABLE store: it outlasts what is done */
	bool even_without; /* run also where the store has refused */
	void (*run)(struct lab_trial *t);
};

/* In the order of tables, ending in NULL. */
const struct lab_scenario *const *lab_scenarios(void);

#endif
