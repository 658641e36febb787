/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/bytes.h"

#include <dlock/backend.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 1024, KEPT = 64 * 1024 };

int dlki_bytes_reserve(struct dlki_bytes *b, size_t n)
{
	size_t len = b->to - b->from;
	size_t room = b->room ? b->room : LEAST;
	char *v;

	if (n <= b->room - b->to)
		return 0;
	if (b->from > 0 && n <= b->room - len) {
		memmove(b->v, b->v + b->from, len);
		b->from = 0;
		b->to = len;
		return 0;
	}
	if (n > SIZE_MAX / 4 - len)
		return DLOCK_ENOMEM;
	while (room < len + n)
		room *= 2;
	v = malloc(room);
	if (!v)
		return DLOCK_ENOMEM;
	if (len > 0)
		memcpy(v, b->v + b->from, len);
	free(b->v);
	b->v = v;
	b->room = room;
	b->from = 0;
	b->to = len;
	return 0;
}

void dlki_bytes_append(struct dlki_bytes *b, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	memcpy(b->v + b->to, bytes, n);
	b->to += n;
}

char *dlki_bytes_end(struct dlki_bytes *b)
{
	return b->v + b->to;
}

void dlki_bytes_added(struct dlki_bytes *b, size_t n)
{
	b->to += n;
}

void dlki_bytes_take(struct dlki_bytes *b, size_t n)
{
	b->from += n;
	if (b->from == b->to)
		b->from = b->to = 0;
}

void dlki_bytes_clear(struct dlki_bytes *b)
{
	if (b->room > KEPT)
		dlki_bytes_free(b);
	b->from = b->to = 0;
}

void dlki_bytes_free(struct dlki_bytes *b)
{
	free(b->v);
	*b = (struct dlki_bytes){ 0 };
}
