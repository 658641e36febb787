/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two digests.  Pure, as the protocols are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/pool/digest.h"

/* Copy the word at `*at`, which moves on; "": the end. */
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
	const char *at;
	char *end;

	if (strncmp(text, MEMC_DIGEST_MAGIC, strlen(MEMC_DIGEST_MAGIC)) != 0)
		return 0;
	d->rest = text + strlen(MEMC_DIGEST_MAGIC);
	next_word(&d->rest, d->hash);
	next_word(&d->rest, d->place);
	d->i = (unsigned int)strtoul(d->place, &end, 10);
	if (end == d->place || *end != '/')
		return 0;
	at = end + 1;
	d->n = (unsigned int)strtoul(at, &end, 10);
	return end != at;
}

static const char *const parts[] = { "distribution", "hash", "namespace" };

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Find the first word that differs; 0: none, as far as both texts go. */
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
