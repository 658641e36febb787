/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an item is called and what it says:
 *     dlock1 OWNER 0.ADD LIMIT LABEL
 *     dlock1 OWNER TOKEN LIMIT LABEL
 * The first time, by the owner's ADDth request, its own cas is the token, which
 * is not known yet; whenever it is written again it says it.
 */
#include "memcached.h"
#include "core/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "dlock1 "
#define OWNER_LEN 32

/* A claim's key is [0-9a-z] and begins with a letter, so that what ends in
 * digits alone is a slot; a prefix has no byte that means anything to the
 * server.  No name can reach another's key, or the protocol. */
void dlki_memc_key(const struct memc_session *s, const struct dlk_claim *claim,
		   int slot, char out[MEMC_KEY_SIZE])
{
	size_t prefix = strlen(s->prefix);
	size_t key = strlen(claim->key);
	char *end = out + prefix + 1 + key;

	assert(prefix + 1 + key + sizeof(".1023") <= MEMC_KEY_SIZE);
	memcpy(out, s->prefix, prefix);
	out[prefix] = '.';
	memcpy(end - key, claim->key, key);
	*end = '\0';
	if (slot != MEMC_GATE)
		snprintf(end, sizeof(".1023"), ".%d", slot);
}

int dlki_memc_item_print(char out[MEMC_TEXT_SIZE],
			 const struct dlk_claim *claim, uint64_t token,
			 uint32_t add)
{
	const char *label = claim->label ? claim->label : "";
	char number[12] = "";

	if (token == 0)
		snprintf(number, sizeof(number), ".%" PRIu32, add);
	return snprintf(out, MEMC_TEXT_SIZE,
			MAGIC "%s %" PRIu64 "%s %" PRIu32 " %.*s", claim->owner,
			token, number, claim->limit,
			(int)dlki_utf8_clip(label, MEMC_LABEL), label);
}

static void copy_label(char out[MEMC_LABEL + 1], const char *label)
{
	size_t n = dlki_utf8_clip(label, MEMC_LABEL);

	memcpy(out, label, n);
	out[n] = '\0';
}

/* What is not ours keeps its place all the same: its owner is "". */
void dlki_memc_item_parse(struct memc_item *item, const char *text)
{
	char *end;

	item->owner[0] = item->label[0] = '\0';
	item->token = item->add = item->limit = 0;
	if (strncmp(text, MAGIC, strlen(MAGIC)) != 0)
		return;
	text += strlen(MAGIC);
	if (strcspn(text, " ") != OWNER_LEN)
		return;
	memcpy(item->owner, text, OWNER_LEN);
	item->owner[OWNER_LEN] = '\0';
	item->token = strtoull(text + OWNER_LEN, &end, 10);
	if (*end == '.')
		item->add = (uint32_t)strtoul(end + 1, &end, 10);
	item->limit = (uint32_t)strtoul(end, &end, 10);
	if (*end == ' ')
		copy_label(item->label, end + 1);
}
