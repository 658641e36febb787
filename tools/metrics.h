/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in Prometheus' text format, version 0.0.4, for a node exporter's
 * textfile collector or a cron job.
 */
#ifndef DLOCK_TOOLS_METRICS_H
#define DLOCK_TOOLS_METRICS_H

#include "participants.h"

#include <stddef.h>
#include <stdint.h>

struct metrics_lock {
	const char *name, *kind;
	uint32_t permits; /* 0: no semaphore */
	const struct participants *who;
};

/* Print all known values of `n` locks.  Returns finish_output()'s code. */
int metrics_print(const struct metrics_lock *locks, size_t n);

#endif
