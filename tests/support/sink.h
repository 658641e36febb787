/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log callback that waits for a thread which uses the client: it waits in
 * vain where a lock is held that such a thread takes.
 */
#ifndef DLOCK_TESTS_SINK_H
#define DLOCK_TESTS_SINK_H

#include <dlock/dlock.h>
#include <stdatomic.h>

struct sink {
	const char *about; /* lines without it are passed over */
	atomic_int told;   /* lines */
	atomic_int used;   /* set by who has used the client */
	atomic_int in_vain;
};

/* A dlock_log_fn; `sink` is a struct sink. */
void sink_waits(const struct dlock_log_line *line, void *sink);

#endif
