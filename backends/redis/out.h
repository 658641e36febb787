/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as bytes: a buffer that needs no memory of its own until it holds
 * more than one request does.
 */
#ifndef DLOCK_REDIS_OUT_H
#define DLOCK_REDIS_OUT_H

#include <stddef.h>
#include <stdint.h>

struct redis_out {
	char *at;    /* own, or from the heap */
	size_t len, room;
	int failed;  /* no memory: what it holds is not whole */
	char own[2048];
};

void dlki_redis_out_init(struct redis_out *o);
void dlki_redis_out_free(struct redis_out *o);

/* The next request has so many words. */
void dlki_redis_out_words(struct redis_out *o, size_t words);
void dlki_redis_out_word(struct redis_out *o, const char *word, size_t len);
void dlki_redis_out_text(struct redis_out *o, const char *text);

/* Decimal digits and a NUL; how many. */
size_t dlki_redis_digits(char out[24], uint64_t n);

#endif
