/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: a guarantee of locks, and a way to test the guarantee.
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

/* Has workers act, and reports broken promises. */
typedef void lab_run_fn(struct lab_trial *t);

struct lab_scenario {
	const char *id; /* "holder-killed" */
	const char *title;
	lab_run_fn *run;
	const char *guarantee; /* a sentence: the guarantee */
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
};

/* In the order of reports; the last has no id. */
extern const struct lab_scenario lab_scenarios[];

/* lab/scenarios/locking.c */
lab_run_fn lab_run_exclusion, lab_run_try, lab_run_timed_wait,
	lab_run_read_write, lab_run_semaphore, lab_run_multi, lab_run_fairness,
	lab_run_fork;
/* ... measuring.c */
lab_run_fn lab_run_hand_off, lab_run_waiting_cost, lab_run_pair,
	lab_run_left_behind;
/* ... stopping.c */
lab_run_fn lab_run_holder_killed, lab_run_holder_paused,
	lab_run_server_restarted, lab_run_server_paused;
/* ... network.c */
lab_run_fn lab_run_network_cut, lab_run_network_slow, lab_run_network_one_way,
	lab_run_reply_lost;
/* ... forgetting.c */
lab_run_fn lab_run_server_flushed, lab_run_server_full, lab_run_clock_stepped;

#endif
