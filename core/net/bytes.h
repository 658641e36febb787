/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: appended at the end, taken from the front.
 */
#ifndef DLOCK_CORE_NET_BYTES_H
#define DLOCK_CORE_NET_BYTES_H

#include <stddef.h>

/* Zeroed: empty. */
struct dlki_bytes {
	char *v;
	size_t from, to, room; /* v[from] to v[to - 1] are there */
};

/* Make room for `n` bytes more at the end; 0 or ENOMEM. */
int dlki_bytes_reserve(struct dlki_bytes *b, size_t n);

/* Append to reserved room. */
void dlki_bytes_append(struct dlki_bytes *b, const void *bytes, size_t n);

/* Return the reserved room; count `n` bytes that were put there. */
char *dlki_bytes_end(struct dlki_bytes *b);
void dlki_bytes_added(struct dlki_bytes *b, size_t n);

static inline size_t dlki_bytes_len(const struct dlki_bytes *b)
{
	return b->to - b->from;
}

static inline const char *dlki_bytes_at(const struct dlki_bytes *b)
{
	return b->v + b->from;
}

/* Take `n` bytes from the front; n <= len. */
void dlki_bytes_take(struct dlki_bytes *b, size_t n);

/* Empty the buffer; clear() gives large memory back, free() all. */
void dlki_bytes_clear(struct dlki_bytes *b);
void dlki_bytes_free(struct dlki_bytes *b);

#endif
