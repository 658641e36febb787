/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine on the kernel's sockets, with a server beside, and threads to drive
 * the engine.
 */
#ifndef TESTS_LOOP_DRIVEN_H
#define TESTS_LOOP_DRIVEN_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/loop/drive.h"
#include "core/loop/state.h"

extern struct dlki_engine *engine;

/* Calls of the world.  While `held_up`, wait() for answers does not begin, and
 * while `await_held_up`, await() does not.  While `write_held_up`, the kernel
 * takes no byte from any thread but a waiter of start(), whose write() does not
 * end.  `turns`: looks at the clock, a few in each turn. */
extern atomic_int waits[DLKI_SETS], kicks[DLKI_SETS];
extern atomic_int awaits, await_held_up, started_waits, held_up, is_held_up;
extern atomic_int write_held_up, is_in_write;
extern atomic_int turns;

/* The .init of a case, and the .fini. */
void setup(void);
void teardown(void);

/* An op and a waiter for it. */
struct call {
	struct dlki_op op;
	struct dlki_waiter waiter;
	int waits, ended;
};

void prepare(struct call *c, enum dlki_verb verb, uint64_t n, dlk_time deadline,
	     int waits_for_it);
dlk_time soon(void);

/* Submit the op, and push.  Has it ended? */
void submit(struct call *c);
int has_ended(const struct call *c);

/* An attempt of this lock, or a release, to the end; returns the outcome. */
enum dlki_outcome call(enum dlki_verb verb, uint64_t n);

/* ... of the op of prepare(). */
enum dlki_outcome call_out(struct call *c);

/* Return how many `turns` a while has. */
int turns_in_a_while(void);

struct thread {
	struct dlki_waiter waiter;
	pthread_t id;
	atomic_int is_over;
};

/* Start a waiter, with the waits counted in `started_waits`.  start_leader():
 * again until the waiter leads: the loop's thread may be quicker. */
void start(struct thread *t);
void start_leader(struct thread *t);
int is_asleep(const struct thread *t);
void end_wait(struct thread *t);

#endif
