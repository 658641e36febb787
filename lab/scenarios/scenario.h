/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: a guarantee of locks, and a way to test the guarantee.  One a
 * file in lab/scenarios/cases/, which the build puts into the table by name:
 * holder_killed.c defines lab_scenario_holder_killed.
 */
#ifndef DLOCK_LAB_SCENARIO_H
#define DLOCK_LAB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_trial;

/* The scenario's needs; a system without them skips it, and tells the
 * reason. */
enum {
	LAB_NEEDS_PROCESSES = 1, /* a store that other processes can use */
	LAB_NEEDS_SERVER = 2,    /* of our own, to suffer faults */
	LAB_NEEDS_PROXY = 4,     /* before a server of our own */
	LAB_NEEDS_FLUSH = 8,     /* the server can be made to forget */
	LAB_NEEDS_FILL = 16,     /* ... and to run out of memory */
	LAB_NEEDS_WALL = 32,     /* the server's wall clock can be stepped */
	LAB_NEEDS_LIBRARY = 64,  /* more than a foreign command can do */
	LAB_NEEDS_LEASE = 128,   /* holds expire */
	LAB_NEEDS_DEPTH = 256    /* a look into the server's store */
};

struct lab_scenario {
	const char *id;        /* "holder-killed" */
	const char *title;
	const char *guarantee; /* a sentence: the guarantee */
	int place;             /* in tables: tens, in rising order */
	int needs;
	uint32_t caps;   /* DLOCK_CAP_ bits that declare the guarantee; a store
			  * that lacks a bit must refuse.  0: all stores declare
			  * it */
	bool measured;   /* measures time: runs alone */
	bool fault;      /* store, network or holder suffer a fault */
	bool may_lose;   /* a store without DURABLE or CONSISTENT may lose holds
			  * here, if LOST comes in time */
	bool long_lease; /* of a DURABLE store: longer than the fault */
	bool even_without; /* run also where the store has refused */
	void (*run)(struct lab_trial *t);
};

/* In the order of tables, ending in NULL. */
const struct lab_scenario *const *lab_scenarios(void);

#endif
