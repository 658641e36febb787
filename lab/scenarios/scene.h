/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scene of many scenarios: A holds, B waits for the lock, a fault happens,
 * B gets the lock, A finds out.
 */
#ifndef DLOCK_LAB_SCENE_H
#define DLOCK_LAB_SCENE_H

#include "lab/scenarios/trial.h"

#define LAB_LONG_MS 60000 /* a wait that is to end otherwise */
#define LAB_ANSWER_MS 2000 /* for a free lock, in the slowest store */

struct lab_scene {
	struct lab_worker *a; /* holds */
	struct lab_worker *b; /* waits */
	struct lab_reply got;/* B's grant */
};

/* Have A, joined by `how_a`, hold; and B wait in line. */
void lab_scene(struct lab_trial *t, struct lab_scene *s, int how_a);

/*
 * Expect B's grant within `bound_ms` from now; B then releases.  Returns how
 * many milliseconds after `since` the grant came.
 */
double lab_scene_inherit(struct lab_trial *t, struct lab_scene *s,
			  int64_t since, int64_t bound_ms);

/* Have A release: DLOCK_OK, or DLOCK_ELOST, which is noted as a loss where the
 * store may lose holds. */
int lab_scene_end(struct lab_trial *t, struct lab_scene *s);

/* Expect the lock to be free, without waiters: P gets it at once, and releases
 * it; else the trial is broken, as `otherwise` says. */
void lab_scene_free(struct lab_trial *t, struct lab_worker *p,
		    const char *otherwise);

/* Have `n` workers take turns on the trial's lock for some time, every second
 * worker with little patience; worker i asks in modes[i].  Expects the others
 * to be granted.  Returns how many grants there were. */
int64_t lab_crowd(struct lab_trial *t, const enum lab_mode modes[], size_t n,
		  uint32_t limit, int how, int64_t run_ms);

/* The same on all nodes' proxies. */
void lab_hole(struct lab_trial *t, enum lab_way way, bool on);

/* Fail the trial, without blame for the store, if `rc` is an error of the
 * lab. */
void lab_must(struct lab_trial *t, int rc);

#endif
