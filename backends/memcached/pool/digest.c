/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/pool/digest.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "pool1 "

/* ---- Written ------------------------------------------------------------- */

/* The text goes to the hash, and its beginning to `out`. */
struct writing {
	SHA2_CTX hash;
	char text[MEMC_DIGEST];
	size_t len;
};

DLOCK_PRINTF(2, 3)
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
		snprintf(out, MEMC_DIGEST, MAGIC "0 1/1");
		return;
	}
	SHA256Init(&w.hash);
	put(&w, "%zu/%zu %s", i + 1, n, dlki_memc_pool_method(pool));
	for (size_t k = 0; k < n; k++)
		put_member(&w, dlki_memc_pool_member(pool, k));
	SHA256Final(hash, &w.hash);
	for (size_t k = 0; k < 8; k++)
		first = first << 8 | hash[k];
	snprintf(out, MEMC_DIGEST, MAGIC "%016" PRIx64 " %.*s", first,
		 MEMC_DIGEST - 24, w.text);
}

/* ---- Compared ------------------------------------------------------------ */

/* The word behind `*at`, which moves on; "": there is none. */
static void next_word(const char **at, char out[64])
{
	size_t n = strcspn(*at, " ");

	snprintf(out, 64, "%.*s", (int)n, *at);
	*at += n;
	*at += **at == ' ';
}

struct digest {
	char hash[64], place[64];
	unsigned int i, n;
	const char *rest;
};

static int parse(struct digest *d, const char *text)
{
	if (strncmp(text, MAGIC, strlen(MAGIC)) != 0)
		return 0;
	d->rest = text + strlen(MAGIC);
	next_word(&d->rest, d->hash);
	next_word(&d->rest, d->place);
	return sscanf(d->place, "%u/%u", &d->i, &d->n) == 2;
}

static const char *const parts[] = { "distribution", "hash", "namespace" };

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* The first word that differs; 0: none does, in what is there of them. */
static int differ(struct digest *theirs, struct digest *ours, char out[120])
{
	for (size_t k = 0; *theirs->rest || *ours->rest; k++) {
		char there[64], here[64];

		next_word(&theirs->rest, there);
		next_word(&ours->rest, here);
		if (strcmp(there, here) == 0)
			continue;
		if (k < PARTS)
			snprintf(out, 120, "%s '%.30s' there, '%.30s' here",
				 parts[k], there, here);
		else
			snprintf(out, 120,
				 "server %zu is %.36s there, %.36s here",
				 k - PARTS + 1, there, here);
		return 1;
	}
	return 0;
}

void dlki_memc_digest_difference(const char *theirs, const char *ours,
				 char out[120])
{
	struct digest there, here;

	if (!parse(&there, theirs) || !parse(&here, ours))
		snprintf(out, 120, "the item is none of dlock's");
	else if (there.n != here.n)
		snprintf(out, 120, "%u %s there, %u here", there.n,
			 there.n == 1 ? "server" : "servers", here.n);
	else if (differ(&there, &here, out))
		return;
	else if (there.i != here.i)
		snprintf(out, 120,
			 "servers %u and %u of the pool are one: name it once",
			 there.i, here.i);
	else
		snprintf(out, 120, "a later server differs");
}
