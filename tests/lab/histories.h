/* SPDX-License-Identifier: Apache-2.0 */
/* Good and bad histories, made by hand. property.c has others, without leases
 * and faults. */
#ifndef DLOCK_TESTS_LAB_HISTORIES_H
#define DLOCK_TESTS_LAB_HISTORIES_H

#include <dlock/dlock.h>

#include "lab/history/check.h"
#include "made.h"

#define HOLDS 5
#define EXTRAS 5

struct extra { /* a record of no operation */
	enum lab_what what;
	int at;
	int value;
	int rc;
	unsigned token;
	int largest;
	const char *name;
};

struct history {
	const char *title;
	unsigned rules; /* broken rules; 0: a good history */
	struct made holds[HOLDS];
	struct extra extras[EXTRAS];
	struct lab_check check;
};

#define BREAKS(rule) (1U << LAB_RULE_##rule)
#define SEM(n) .mode = LAB_PERMIT, .limit = (n)
#define BUSY(a, g) .asked = (a), .got = (g), .rc = DLOCK_EBUSY
/* asked, got, release, released, token */
#define HELD(a, g, r, d, t) \
	.asked = (a), .got = (g), .release = (r), .released = (d), .token = (t)

#define NO_TOKENS .check = { .no_tokens = true }
#define FOUND_IN(ms) .check = { .found_ns = (ms) * SCALE }
#define KILLED(when, pid) { LAB_KILLED, .at = (when), .value = (pid) }
#define WIPED(from, to) { LAB_WIPED, .at = (to), .value = (from), .rc = 1 }
#define PERHAPS_WIPED(from, to) { LAB_WIPED, .at = (to), .value = (from) }
/* A write at a place, answered after the largest token so far. */
#define ACCEPTED(when, place, t, most) \
	{ LAB_WROTE, (when), (place), .rc = 1, .token = (t), .largest = (most) }
#define REFUSED(when, place, t, most) \
	{ LAB_WROTE, (when), (place), .token = (t), .largest = (most) }
#define STOOD_STILL(from, to, pid) \
	{ LAB_PAUSED, .at = (from), .value = (pid) }, \
	{ LAB_RESUMED, .at = (to), .value = (pid) }

/* The last history of each table has no title. */
extern const struct history histories[], histories_losses[];
extern const struct history histories_holders[];

#endif
