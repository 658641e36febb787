/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a line, and numbers as memcached reads them: "12 x" is 12, and
 * bits that the type has no room for are cut off.
 */
#ifndef DLOCK_SIM_MEMCACHED_WORDS_H
#define DLOCK_SIM_MEMCACHED_WORDS_H

#include "sim/memcached/items.h"

enum { MM_WORDS = 23 };

struct mm_words {
	struct mm_text v[MM_WORDS + 1]; /* behind the last there is an empty
					 * word */
	size_t n;
};

/* Zeroes are written into the line, behind the words. */
void mm_words_split(struct mm_words *w, char *line);

int mm_word_is(struct mm_text word, const char *text);

/* 1: it is a number. */
int mm_read_u64(const char *text, uint64_t *out);
int mm_read_u32(const char *text, uint32_t *out);
int mm_read_i32(const char *text, int32_t *out);

#endif
