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

/* List the systems that the options name, without starting them; `dir` is for
 * stores in files.  -1: too many. */
int lab_targets_list(struct lab_targets *l, const struct lab_compare_options *o,
		const char *dir);

/* Start a system if it is ours, open it and note the capabilities.  Errors go
 * into the system's trouble.  `t` has all but the system.  In the list's
 * order. */
void lab_target_open(struct lab_targets *l, size_t i, struct lab_trial *t);

#endif
