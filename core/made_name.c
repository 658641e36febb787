/* SPDX-License-Identifier: Apache-2.0 */
#include "core/made_name.h"

#include <sha2.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/name.h"

#define MARK_SIZE 3 /* of "%e:" and "%h:" */

static const char digits[] = "0123456789abcdef";

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
		if (!plain)
			*p++ = '%';
		if (plain)
			*p++ = (char)in[i];
		else
			p = hex(p, in[i]);
	}
	*p = '\0';
	return 1;
}

static void hash(char out[DLOCK_NAME_SIZE], const unsigned char *in, size_t len)
{
	unsigned char sum[SHA256_DIGEST_LENGTH];
	char *p = out + MARK_SIZE;
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, in, len);
	SHA256Final(sum, &ctx);
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
