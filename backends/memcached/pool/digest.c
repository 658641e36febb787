/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/pool/digest.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text goes to the hash, and the beginning of the text to `out`. */
struct writing {
	SHA2_CTX hash;
	char text[MEMC_DIGEST];
	size_t len;
};

static void put(struct writing *w, const char *fmt, ...) DLOCK_PRINTF(2, 3);

static void put(struct writing *w, const char *fmt, ...)
{
	char part[600];
	size_t n, room = sizeof(w->text) - 1 - w->len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(part, sizeof(part), fmt, ap);
	va_end(ap);
	n = strlen(part);
	SHA256Update(&w->hash, (const uint8_t *)part, n);
	if (n > room)
		n = room;
	memcpy(w->text + w->len, part, n);
	w->len += n;
	w->text[w->len] = '\0';
}

static void put_member(struct writing *w, struct memc_member m)
{
	put(w, " %s", m.name);
	if (m.port != 0)
		put(w, ":%u", (unsigned int)m.port);
	if (m.weight != 1)
		put(w, "/?%" PRIu32, m.weight);
}

void dlki_memc_digest(const struct memc_pool *pool, size_t i,
		      char out[MEMC_DIGEST])
{
	size_t n = pool ? dlki_memc_pool_size(pool) : 1;
	uint8_t hash[SHA256_DIGEST_LENGTH];
	struct writing w = { .len = 0 };
	uint64_t first = 0;

	if (n == 1) {
		snprintf(out, MEMC_DIGEST, MEMC_DIGEST_MAGIC "0 1/1");
		return;
	}
	SHA256Init(&w.hash);
	put(&w, "%zu/%zu %s", i + 1, n, dlki_memc_pool_method(pool));
	for (size_t k = 0; k < n; k++)
		put_member(&w, dlki_memc_pool_member(pool, k));
	SHA256Final(hash, &w.hash);
	for (size_t k = 0; k < 8; k++)
		first = first << 8 | hash[k];
	snprintf(out, MEMC_DIGEST, MEMC_DIGEST_MAGIC "%016" PRIx64 " %.*s",
		 first, MEMC_DIGEST - 24, w.text);
}
