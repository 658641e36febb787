/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What many scenarios have in common: A holds, B waits for it, something
 * happens, B gets it, A finds out.
 */
#ifndef DLOCK_LAB_SCENE_H
#define DLOCK_LAB_SCENE_H

#include "lab/scenarios/trial.h"

#define LAB_LONG_MS 60000 /* a wait that is to end otherwise */
#define LAB_ANSWER_MS 2000 /* for what is free, in the slowest of stores */

struct lab_scene {
	struct lab_worker *a; /* holds */
	struct lab_worker *b; /* waits */
	struct lab_reply got;/* when B was granted it */
};

/* A, who joins so, holds; B waits in line. */
void lab_scene(struct lab_trial *t, struct lab_scene *s, int how_a);

/*
 * B is granted the lock within `bound_ms` from now, or that is broken; then it
 * gives it back.  Returns how many milliseconds after `since` that was.
 */
double lab_scene_inherit(struct lab_trial *t, struct lab_scene *s,
			  int64_t since, int64_t bound_ms);

/* A gives it back: DLOCK_OK, or DLOCK_ELOST, which is noted as a loss where
 * the store may lose holds. */
int lab_scene_end(struct lab_trial *t, struct lab_scene *s);

/* Nobody holds it or is in its line: P gets it at once, or that is broken, as
 * `otherwise` says, and gives it back. */
void lab_scene_free(struct lab_trial *t, struct lab_worker *p,
		    const char *otherwise);

/* `n` workers take turns on the trial's lock for some time, every second one
 * with little patience; the modes are theirs in order.  The others are granted
 * it, or that is broken.  Returns how often they all were. */
int64_t lab_crowd(struct lab_trial *t, const enum lab_mode modes[], size_t n,
		  uint32_t limit, int how, int64_t run_ms);

/* The same on all nodes' proxies. */
void lab_hole(struct lab_trial *t, enum lab_way way, bool on);
void lab_delay(struct lab_trial *t, int64_t ms);

/* A server that could not be dealt with is no store's fault. */
void lab_must(struct lab_trial *t, int rc);

#endif
