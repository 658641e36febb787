/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/command.h"

#include <stdlib.h>
#include <string.h>

void dlki_redis_commands_init(struct redis_commands *out)
{
	out->bytes = out->own;
	out->len = 0;
	out->room = sizeof(out->own);
	out->failed = 0;
}

void dlki_redis_commands_free(struct redis_commands *out)
{
	if (out->bytes != out->own)
		free(out->bytes);
	dlki_redis_commands_init(out);
}

static int make_room(struct redis_commands *out, size_t more)
{
	size_t room = 2 * out->room + more;
	char *grown;

	if (out->failed)
		return 0;
	if (out->room - out->len >= more)
		return 1;
	grown = realloc(out->bytes == out->own ? NULL : out->bytes, room);
	if (!grown) {
		out->failed = 1;
		return 0;
	}
	if (out->bytes == out->own)
		memcpy(grown, out->own, out->len);
	out->bytes = grown;
	out->room = room;
	return 1;
}

size_t dlki_redis_digits(char out[24], uint64_t n)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	memcpy(out, digits + at, sizeof(digits) - at);
	return sizeof(digits) - 1 - at;
}

/* "*3\r\n" or "$36\r\n"; there is room.  Most numbers have two digits. */
static void put_length(struct redis_commands *out, char type, size_t n)
{
	char *to = out->bytes + out->len;

	*to++ = type;
	if (n < 100) {
		if (n >= 10)
			*to++ = (char)('0' + n / 10);
		*to++ = (char)('0' + n % 10);
	} else {
		to += dlki_redis_digits(to, n);
	}
	*to++ = '\r';
	*to++ = '\n';
	out->len = (size_t)(to - out->bytes);
}

void dlki_redis_commands_begin(struct redis_commands *out, size_t argc)
{
	if (make_room(out, 32))
		put_length(out, '*', argc);
}

void dlki_redis_commands_arg(struct redis_commands *out, const char *text,
			     size_t len)
{
	if (!make_room(out, len + 32))
		return;
	put_length(out, '$', len);
	memcpy(out->bytes + out->len, text, len);
	out->len += len;
	out->bytes[out->len++] = '\r';
	out->bytes[out->len++] = '\n';
}

void dlki_redis_commands_text(struct redis_commands *out, const char *text)
{
	dlki_redis_commands_arg(out, text, strlen(text));
}

void dlki_redis_commands_argv(struct redis_commands *out, size_t argc,
			      const char *const argv[])
{
	dlki_redis_commands_begin(out, argc);
	for (size_t i = 0; i < argc; i++)
		dlki_redis_commands_text(out, argv[i]);
}
