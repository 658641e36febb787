/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

void sim_bytes_free(struct sim_bytes *b)
{
	free(b->own);
	*b = (struct sim_bytes){ 0 };
}

/* For `more` bytes, and the zero. */
static void make_room(struct sim_bytes *b, size_t more)
{
	if (b->room - b->at - b->len > more)
		return;
	if (b->at > 0) {
		memmove(b->own, b->own + b->at, b->len);
		b->at = 0;
	}
	if (b->room - b->len > more)
		return;
	b->room = 2 * b->room + more + 32;
	b->own = sim_grow(b->own, b->room, 1);
}

void sim_bytes_add(struct sim_bytes *b, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	make_room(b, len);
	memcpy(b->own + b->at + b->len, bytes, len);
	b->len += len;
	b->own[b->at + b->len] = '\0';
}

void sim_bytes_text_add(struct sim_bytes *b, const char *text)
{
	sim_bytes_add(b, text, strlen(text));
}

void sim_bytes_printf(struct sim_bytes *b, const char *fmt, ...)
{
	size_t room;
	va_list ap;
	int n;

	make_room(b, 64);
	room = b->room - b->at - b->len;
	va_start(ap, fmt);
	n = vsnprintf(b->own + b->at + b->len, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		sim_panic("cannot format %s", fmt);
	if ((size_t)n >= room) {
		make_room(b, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(b->own + b->at + b->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

char *sim_bytes_resize(struct sim_bytes *b, size_t len)
{
	if (len > b->len) {
		make_room(b, len - b->len);
		memset(b->own + b->at + b->len, 0, len - b->len);
	}
	b->len = len;
	if (!b->own)
		return NULL;
	b->own[b->at + len] = '\0';
	return b->own + b->at;
}

void sim_bytes_take(struct sim_bytes *b, size_t len)
{
	if (len > b->len)
		len = b->len;
	b->at += len;
	b->len -= len;
	if (b->len == 0)
		b->at = 0;
}
