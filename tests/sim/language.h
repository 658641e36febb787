/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a file of cases depends on the store: how a request and a reply are
 * written there.
 *
 * In both, marks take the place of what differs from run to run.
 */
#ifndef DLOCK_TESTS_SIM_LANGUAGE_H
#define DLOCK_TESTS_SIM_LANGUAGE_H

#include <stdint.h>

#include "sim/base/bytes.h"

enum { MARK_TIMES = 64 };

/* What the marks of a case stand for. */
struct marks {
	char times[MARK_TIMES][17];
	int n_times;
	uint64_t cas; /* the last number before the case */
};

struct play_language {
	/* The bytes of a request that is a line of the file. */
	void (*request)(const struct marks *m, struct sim_bytes *out,
			const char *line);

	/* What is behind the reply that begins at `from`; NULL: its end has
	 * not come. */
	const char *(*reply_end)(const char *from, const char *end);

	/* A reply's line, without marks; and put marks into it.  `now_us` is
	 * the server's time. */
	void (*line)(struct sim_bytes *out, const char *reply);
	void (*mark)(struct marks *m, struct sim_bytes *line, int64_t now_us);

	/* By these requests a case begins; `cleaned` fails if the server has
	 * refused one. */
	const char *const *clean;
	void (*cleaned)(struct marks *m, const char *reply);

	/* A request that tells whether a reply is left ahead of its own. */
	const char *probe;
	int (*is_probed)(const char *reply);

	/* A request with a key, %s, and whether the reply says that the key is
	 * not there. */
	const char *exists;
	int (*is_gone)(const char *reply);
};

extern const struct play_language redis_language, memcached_language,
	zk_language;

#endif
