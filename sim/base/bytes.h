/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are appended at the end and taken from the front.  A zero stands
 * behind the last byte.  All zeroes are empty bytes; end with
 * sim_bytes_free().
 */
#ifndef DLOCK_SIM_BYTES_H
#define DLOCK_SIM_BYTES_H

#include <stddef.h>

struct sim_bytes {
	char *own;  /* the allocation */
	size_t at;  /* the first byte */
	size_t len; /* from there */
	size_t room;
};

void sim_bytes_free(struct sim_bytes *b);

static inline const char *sim_bytes_text(const struct sim_bytes *b)
{
	return b->own ? b->own + b->at : "";
}

void sim_bytes_add(struct sim_bytes *b, const void *bytes, size_t len);
void sim_bytes_text_add(struct sim_bytes *b, const char *text);
void sim_bytes_printf(struct sim_bytes *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Set the length to `len`, filled up with zeroes; returns the first byte, which
 * may be written. */
char *sim_bytes_resize(struct sim_bytes *b, size_t len);

/* Take `len` bytes, at most all, from the front. */
void sim_bytes_take(struct sim_bytes *b, size_t len);

#endif
