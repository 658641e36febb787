/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a line, separated by blanks. */
#ifndef DLOCK_TESTS_SIM_WORDS_H
#define DLOCK_TESTS_SIM_WORDS_H

#include "sim/base/bytes.h"

enum { WORDS_MAX = 64 };

struct words {
	struct sim_bytes v[WORDS_MAX];
	int is_raw[WORDS_MAX]; /* in single quotes: without marks */
	size_t n;
};

/* A word in double quotes may have blanks and \n, \r, \", \\ and \xHH in it. */
struct words words_split(const char *line);
void words_free(struct words *w);

#endif
