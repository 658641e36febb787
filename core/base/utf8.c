/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/utf8.h"

#include <dlock/backend.h>
#include <string.h>

size_t dlki_utf8_next(const char *s, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = (unsigned char)s[0];
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	uint32_t u;

	if (c < 0x80) {
		*code = c;
		return 1;
	}
	if (c < 0xc0 || c > 0xf7 || n > len)
		return 0;
	u = c & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		c = (unsigned char)s[i];
		if ((c & 0xc0) != 0x80)
			return 0;
		u = u << 6 | (c & 0x3f);
	}
	/* Two spellings of one character would be two names that look alike. */
	if (u < least[n] || u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
		return 0;
	*code = u;
	return n;
}

int dlki_utf8_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

const char *dlki_text_flaw(const char *s, size_t len, size_t *at)
{
	size_t i = 0;

	while (i < len) {
		uint32_t code;
		size_t n = dlki_utf8_next(s + i, len - i, &code);

		*at = i + 1;
		if (n == 0)
			return "is not UTF-8";
		if (dlki_utf8_is_control(code))
			return "is a control character";
		i += n;
	}
	return NULL;
}

size_t dlk_utf8_clip(const char *s, size_t most)
{
	size_t n = strnlen(s, most);

	for (size_t cut = 0; cut <= 3 && cut <= n; cut++)
		if (((unsigned char)s[n - cut] & 0xc0) != 0x80)
			return n - cut;
	return n;
}
