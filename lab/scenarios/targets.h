/* SPDX-License-Identifier: Apache-2.0 */
/* The systems that take part in a comparison.  Internal to the lab. */
#ifndef DLOCK_LAB_TARGETS_H
#define DLOCK_LAB_TARGETS_H

#include "lab/scenarios/compare.h"
#include "lab/scenarios/sut.h"
#include "lab/scenarios/trial.h"

#define LAB_TARGETS 16

struct lab_targets {
	struct lab_sut list[LAB_TARGETS];
	size_t n;
};

/* Systems that the options name, not yet started; `dir` is for stores in
 * files.  -1: too many. */
int lab_targets_list(struct lab_targets *l, const struct lab_compare_options *o,
		const char *dir);

/* Start one if it is ours, open it and see what it is.  What goes wrong is put
 * into its trouble.  `t` has all but the system.  In their order. */
void lab_target_open(struct lab_targets *l, size_t i, struct lab_trial *t);

#endif
