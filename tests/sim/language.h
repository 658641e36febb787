/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store's language in files of cases: requests and replies.
 *
 * In both, marks take the place of values that differ from run to run.
 */
#ifndef DLOCK_TESTS_SIM_LANGUAGE_H
#define DLOCK_TESTS_SIM_LANGUAGE_H

#include <stdint.h>

#include "sim/base/bytes.h"

enum { MARK_TIMES = 64 };

/* The values of a case's marks. */
struct marks {
	char times[MARK_TIMES][17];
	int n_times;
	uint64_t cas; /* the last number before the case */
};

struct play_language {
	/* Append the bytes of the request in a line of the file. */
	void (*request)(const struct marks *m, struct sim_bytes *out,
			const char *line);

	/* Return the end of the reply at `from`; NULL: it has not come. */
	const char *(*reply_end)(const char *from, const char *end);

	/* A reply's line, without marks; and put marks into it.  `now_us` is
	 * the server's time. */
	void (*line)(struct sim_bytes *out, const char *reply);
	void (*mark)(struct marks *m, struct sim_bytes *line, int64_t now_us);

	/* The requests at the begin of a case; `cleaned` fails if the server
	 * refused any. */
	const char *const *clean;
	void (*cleaned)(struct marks *m, const char *reply);

	/* A request with a known reply, to find unexpected replies before. */
	const char *probe;
	int (*is_probed)(const char *reply);

	/* A request with a key, %s, and whether the reply means "no such
	 * key". */
	const char *exists;
	int (*is_gone)(const char *reply);
};

extern const struct play_language redis_language, memcached_language,
	zk_language;

#endif
