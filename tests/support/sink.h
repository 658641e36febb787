/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log callback that waits for another thread's use of the client: in vain, if
 * the core holds a mutex that the thread needs.
 */
#ifndef DLOCK_TESTS_SINK_H
#define DLOCK_TESTS_SINK_H

#include <dlock/dlock.h>
#include <stdatomic.h>

struct sink {
	const char *about; /* lines without this text are ignored */
	atomic_int told;   /* lines */
	atomic_int used;   /* set by the thread that has used the client */
	atomic_int in_vain;
};

/* A dlock_log_fn; `sink` is a struct sink. */
void sink_waits(const struct dlock_log_line *line, void *sink);

#endif
