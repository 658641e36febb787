/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, the engine driven as a library. */
#ifndef DLOCK_TESTS_COMPARE_DRIVE_H
#define DLOCK_TESTS_COMPARE_DRIVE_H

#include "lab/scenarios/compare.h"
#include "lab/scenarios/sut.h"

#include <stdatomic.h>

/* Of a test suite: the broken stores are there. */
void drive_init(void);

/* Set: the comparison ends soon. */
extern atomic_bool drive_stop;

/* Run a quick comparison; workers and the like are filled in. */
struct lab_findings *drive(struct lab_compare_options o);

/* ... of a single store. */
struct lab_findings *drive_uri(const char *uri, const char *only);

/* ... not the quick form. */
struct lab_findings *drive_at_length(const char *uri, const char *only);

const struct lab_finding *drive_found(const struct lab_findings *f,
				      const char *store, const char *id);

/* The outcome must be this. */
void drive_is(const struct lab_findings *f, const char *store, const char *id,
	      enum lab_outcome outcome);

/* The kind of server of this name. */
const struct lab_sut_kind *drive_kind(const char *name);

#endif
