/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/command.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/digits.h"

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

static int grow(struct redis_commands *out, size_t more)
{
	size_t room = 2 * out->room + more;
	char *grown;

	if (out->failed)
		return 0;
	grown = realloc(out->bytes == out->own ? NULL : out->bytes, room);
	if (!grown) {
		out->failed = 1;
		out->room = out->len;
		return 0;
	}
	if (out->bytes == out->own)
		memcpy(grown, out->own, out->len);
	out->bytes = grown;
	out->room = room;
	return 1;
}

static int make_room(struct redis_commands *out, size_t more)
{
	return out->room - out->len >= more || grow(out, more);
}

/* Put "*3\r\n" or "$36\r\n"; there is room.  Most numbers have two digits. */
static char *put_length(char *to, char type, size_t n)
{
	*to++ = type;
	if (n < 100) {
		if (n >= 10)
			*to++ = (char)('0' + n / 10);
		*to++ = (char)('0' + n % 10);
	} else {
		to += dlki_digits(to, n);
	}
	*to++ = '\r';
	*to++ = '\n';
	return to;
}

void dlki_redis_commands_begin(struct redis_commands *out, size_t argc)
{
	if (make_room(out, 32))
		out->len =
			(size_t)(put_length(out->bytes + out->len, '*', argc) -
				 out->bytes);
}

void dlki_redis_commands_arg(struct redis_commands *out, const char *text,
			     size_t len)
{
	char *to;

	if (!make_room(out, len + 32))
		return;
	to = put_length(out->bytes + out->len, '$', len);
	memcpy(to, text, len);
	to += len;
	*to++ = '\r';
	*to++ = '\n';
	out->len = (size_t)(to - out->bytes);
}

void dlki_redis_commands_put(struct redis_commands *out, const char *bytes,
			     size_t len)
{
	if (!make_room(out, len))
		return;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

void dlki_redis_commands_argv(struct redis_commands *out, size_t argc,
			      const char *const argv[])
{
	dlki_redis_commands_begin(out, argc);
	for (size_t i = 0; i < argc; i++)
		dlki_redis_commands_arg(out, argv[i], strlen(argv[i]));
}
