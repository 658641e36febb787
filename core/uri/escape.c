/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/escape.h"
#include "core/base/error.h"

#include <string.h>

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Return the byte for an escape such as "%2F", or -1. */
static int read_escape(const char *text, size_t len)
{
	int high, low;

	if (len < 3)
		return -1;
	high = hex_value(text[1]);
	low = hex_value(text[2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

int dlki_unescape(char **room, const char *text, size_t len, const char *what,
		  struct dlk_error *err)
{
	char *to = *room;

	for (size_t i = 0; i < len; i++) {
		int byte = (unsigned char)text[i];

		if (byte == '%') {
			byte = read_escape(text + i, len - i);
			if (byte < 0)
				return dlk_fail(err, DLOCK_EINVAL,
						"the %s has a broken escape; "
						"write '%%' itself as %%25",
						what);
			i += 2;
		}
		*to++ = (char)byte;
	}
	if (dlki_text_check(*room, (size_t)(to - *room), what, err) != 0)
		return DLOCK_EINVAL;
	*to++ = '\0';
	*room = to;
	return DLOCK_OK;
}

static int is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("-._~", c);
}

void dlki_escape(char **to, const char *text, const char *keep)
{
	static const char digits[] = "0123456789ABCDEF";
	char *p = *to;

	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (is_unreserved(*text) || strchr(keep, *text)) {
			*p++ = *text;
		} else {
			*p++ = '%';
			*p++ = digits[byte >> 4];
			*p++ = digits[byte & 15];
		}
	}
	*to = p;
}
