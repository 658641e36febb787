/* SPDX-License-Identifier: Apache-2.0 */
#include "core/name.h"
#include "core/base/error.h"

#include <sha2.h>
#include <string.h>

#define PLAIN_MAX 62  /* kind and form letters make it 64 */
#define BASE32_MAX 38 /* 61 digits */

int dlki_name_check(const char *name, struct dlk_error *err)
{
	size_t len;

	if (!name)
		return dlk_fail(err, DLOCK_EINVAL, "the name is NULL");
	len = strnlen(name, DLKI_NAME_MAX + 1);
	if (len == 0)
		return dlk_fail(err, DLOCK_EINVAL, "the name is empty");
	if (len > DLKI_NAME_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"the name is longer than %d bytes",
				DLKI_NAME_MAX);
	return dlki_text_check(name, len, "name", err);
}

static int is_plain(const char *name, size_t len)
{
	return len <= PLAIN_MAX &&
	       strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz") == len;
}

static void base32(const unsigned char *in, size_t len, char *out)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned int bits = 0, n_bits = 0;

	for (size_t i = 0; i < len; i++) {
		bits = (bits << 8 | in[i]) & 0xfff; /* at most 4 + 8 count */
		for (n_bits += 8; n_bits >= 5; n_bits -= 5)
			*out++ = digits[bits >> (n_bits - 5) & 31];
	}
	if (n_bits)
		*out++ = digits[bits << (5 - n_bits) & 31];
	*out = '\0';
}

/* Long names are hashed rather than cut: memcached takes keys of 250 bytes, and
 * every store shall see the same key. */
void dlki_name_key(enum dlk_kind kind, const char *name,
		   char out[DLKI_KEY_SIZE])
{
	static const char letters[] = {
		[DLK_LOCK] = 'l', [DLK_SEMAPHORE] = 's'
	};
	size_t len = strlen(name);
	unsigned char hash[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	out[0] = letters[kind];
	if (is_plain(name, len)) {
		out[1] = 'n';
		memcpy(out + 2, name, len + 1);
	} else if (len <= BASE32_MAX) {
		out[1] = 'e';
		base32((const unsigned char *)name, len, out + 2);
	} else {
		SHA256Init(&ctx);
		SHA256Update(&ctx, (const uint8_t *)name, len);
		SHA256Final(hash, &ctx);
		out[1] = 'h';
		base32(hash, sizeof(hash), out + 2);
	}
}
