/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of the model Redis: bytes with a length, borrowed; and numbers as Redis
 * reads and writes them.
 */
#ifndef DLOCK_SIM_REDIS_TEXT_H
#define DLOCK_SIM_REDIS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct rm_text {
	const char *s; /* a zero stands behind the last byte */
	size_t len;
};

/* Compare as memcmp() does, a shorter text first. */
int rm_compare(struct rm_text a, struct rm_text b);

/* Whether the text is `word`, in whatever case. */
int rm_is(struct rm_text t, const char *word);

/* 1: all of the text is a number.  An integer has no sign but '-' and no
 * leading zero. */
int rm_integer(struct rm_text t, int64_t *out);
int rm_double(struct rm_text t, double *out);

enum { RM_INTEGER_SIZE = 24, RM_DOUBLE_SIZE = 32 };

/* Return how long the text is, without the zero behind the text. */
size_t rm_print_integer(char out[RM_INTEGER_SIZE], int64_t n);

/* A score or a number of Lua's, with 17 digits. */
size_t rm_print_double(char out[RM_DOUBLE_SIZE], double d);

/* Glob of KEYS: `*`, `?` and bytes that stand for themselves. */
int rm_matches(struct rm_text pattern, struct rm_text t);

#endif
