/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/out.h"

#include <stdlib.h>
#include <string.h>

void dlki_redis_out_init(struct redis_out *o)
{
	o->at = o->own;
	o->len = 0;
	o->room = sizeof(o->own);
	o->failed = 0;
}

void dlki_redis_out_free(struct redis_out *o)
{
	if (o->at != o->own)
		free(o->at);
	dlki_redis_out_init(o);
}

static int make_room(struct redis_out *o, size_t more)
{
	size_t room = 2 * o->room + more;
	char *grown;

	if (o->failed)
		return 0;
	if (o->room - o->len >= more)
		return 1;
	grown = realloc(o->at == o->own ? NULL : o->at, room);
	if (!grown) {
		o->failed = 1;
		return 0;
	}
	if (o->at == o->own)
		memcpy(grown, o->own, o->len);
	o->at = grown;
	o->room = room;
	return 1;
}

size_t dlki_redis_digits(char out[24], uint64_t n)
{
	char back[24];
	size_t len = 0;

	do {
		back[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	for (size_t i = 0; i < len; i++)
		out[i] = back[len - 1 - i];
	out[len] = '\0';
	return len;
}

/* "*3\r\n" or "$5\r\n"; there is room. */
static void head(struct redis_out *o, char sign, size_t n)
{
	char text[24];
	size_t len = dlki_redis_digits(text, n);

	o->at[o->len++] = sign;
	memcpy(o->at + o->len, text, len);
	o->len += len;
	o->at[o->len++] = '\r';
	o->at[o->len++] = '\n';
}

void dlki_redis_out_words(struct redis_out *o, size_t words)
{
	if (make_room(o, 32))
		head(o, '*', words);
}

void dlki_redis_out_word(struct redis_out *o, const char *word, size_t len)
{
	if (!make_room(o, len + 32))
		return;
	head(o, '$', len);
	memcpy(o->at + o->len, word, len);
	o->len += len;
	o->at[o->len++] = '\r';
	o->at[o->len++] = '\n';
}

void dlki_redis_out_text(struct redis_out *o, const char *text)
{
	dlki_redis_out_word(o, text, strlen(text));
}
