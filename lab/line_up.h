/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes part in a comparison.  Internal to the lab. */
#ifndef DLOCK_LAB_LINE_UP_H
#define DLOCK_LAB_LINE_UP_H

#include "lab/compare.h"
#include "lab/subject.h"
#include "lab/trial.h"

#define LAB_SUBJECTS 16

struct lab_line_up {
	struct lab_subject list[LAB_SUBJECTS];
	size_t n;
};

/* Subjects that the options name, not yet started; `dir` is for stores in
 * files.  -1: too many. */
int lab_line_up(struct lab_line_up *l, const struct lab_compare_options *o,
		const char *dir);

/* Start one if it is ours, open it and see what it is.  What goes wrong is put
 * into its trouble.  `t` has all but the subject.  In their order. */
void lab_get_ready(struct lab_line_up *l, size_t i, struct lab_trial *t);

#endif
