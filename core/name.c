/* SPDX-License-Identifier: Apache-2.0 */
#include "core/name.h"

#include <sha2.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

#define PLAIN_MAX 62  /* kind and form letters make it 64 */
#define BASE32_MAX 38 /* 61 digits */
#define MARK_SIZE 3   /* of "%e:" and "%h:" */

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

static void sha256(unsigned char out[SHA256_DIGEST_LENGTH], const void *bytes,
		   size_t len)
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, bytes, len);
	SHA256Final(out, &ctx);
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

	out[0] = letters[kind];
	if (is_plain(name, len)) {
		out[1] = 'n';
		memcpy(out + 2, name, len + 1);
	} else if (len <= BASE32_MAX) {
		out[1] = 'e';
		base32((const unsigned char *)name, len, out + 2);
	} else {
		sha256(hash, name, len);
		out[1] = 'h';
		base32(hash, sizeof(hash), out + 2);
	}
}

/* ---- Names out of any bytes ---------------------------------------------- */

/* A legal name that looks like a made name is escaped, so no two strings of
 * bytes have the same name. */
static int is_name(const char *bytes, size_t len)
{
	size_t at;

	if (len == 0 || len > DLKI_NAME_MAX || memchr(bytes, 0, len) ||
	    dlki_text_flaw(bytes, len, &at))
		return 0;
	return len < MARK_SIZE || (memcmp(bytes, "%e:", MARK_SIZE) != 0 &&
				   memcmp(bytes, "%h:", MARK_SIZE) != 0);
}

static char *hex(char *out, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	*out++ = digits[byte >> 4];
	*out++ = digits[byte & 15];
	return out;
}

/* 0: there is no room. */
static int escape(char out[DLOCK_NAME_SIZE], const unsigned char *in,
		  size_t len)
{
	char *end = out + DLOCK_NAME_SIZE - 1;
	char *p = out + MARK_SIZE;

	memcpy(out, "%e:", MARK_SIZE);
	for (size_t i = 0; i < len; i++) {
		int plain = in[i] > ' ' && in[i] < 0x7f && in[i] != '%';

		if (end - p < (plain ? 1 : 3))
			return 0;
		if (plain) {
			*p++ = (char)in[i];
			continue;
		}
		*p++ = '%';
		p = hex(p, in[i]);
	}
	*p = '\0';
	return 1;
}

static void hash(char out[DLOCK_NAME_SIZE], const unsigned char *in, size_t len)
{
	unsigned char sum[SHA256_DIGEST_LENGTH];
	char *p = out + MARK_SIZE;

	sha256(sum, in, len);
	memcpy(out, "%h:", MARK_SIZE);
	for (size_t i = 0; i < sizeof(sum); i++)
		p = hex(p, sum[i]);
	*p = '\0';
}

int dlki_name_make(char out[DLOCK_NAME_SIZE], const void *bytes, size_t len,
		   struct dlk_error *err)
{
	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	if (!bytes && len > 0)
		return dlk_fail(err, DLOCK_EINVAL, "bytes is NULL");
	if (is_name(bytes, len)) {
		memcpy(out, bytes, len);
		out[len] = '\0';
		return DLOCK_NAME_SAME;
	}
	if (escape(out, bytes, len))
		return DLOCK_NAME_ESCAPED;
	hash(out, bytes, len);
	return DLOCK_NAME_HASHED;
}

int dlock_name_make(char out[DLOCK_NAME_SIZE], const void *bytes, size_t len)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, dlki_name_make(out, bytes, len, &s.err));
}
