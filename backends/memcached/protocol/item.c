/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of an item:
 *     dlock1 OWNER 0.ADD LIMIT LABEL
 *     dlock1 OWNER TOKEN LIMIT LABEL
 * The first form is the owner's ADDth add.  The item's own cas is the token,
 * which no client knows before.  The item written again has the token.
 *
 * A mark has UNTIL in the place of the label, or UNTIL SLOTS, see mark.h, and
 * keeps the first form when it is written again: OWNER and ADD tell it from a
 * later mark.
 */
#include "backends/memcached/protocol/item.h"

#include <assert.h>
#include <dlock/backend.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/run.h"
#include "core/base/digits.h"

#define MAGIC "dlock1 "
#define OWNER_LEN 32
#define ID_LEN 12 /* of the owner; the whole owner would be a key to the lock */

int dlki_memc_slots(const struct dlk_request *request)
{
	switch (request->kind) {
	case DLK_LOCK:
		return MEMC_READERS;
	case DLK_SEMAPHORE:
		return request->limit < MEMC_PERMITS ? (int)request->limit :
						       MEMC_PERMITS;
	default:
		return 0;
	}
}

int dlki_memc_several(const struct dlk_request *request)
{
	return request->permits > 1;
}

int dlki_memc_is_too_many(const struct dlk_request *request,
			  struct dlk_error *err)
{
	if (request->limit <= MEMC_PERMITS)
		return 0;
	dlk_fail(err, DLOCK_ENOTSUP,
		 "semaphore '%.100s': at most %d permits in memcached, not %u",
		 request->name, MEMC_PERMITS, (unsigned int)request->limit);
	return 1;
}

static char *put(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

static char *put_number(char *to, char before, uint64_t n)
{
	*to = before;
	return to + 1 + dlki_digits(to + 1, n);
}

/* Print the key of an item.  A request's key is [0-9a-z], at least two bytes,
 * and begins with a letter.  So a last part of digits alone is a slot, and a
 * single letter the mark or the wish.  A prefix has no byte with a meaning to
 * the server.  So no name can reach another name's key, or the protocol. */
void dlki_memc_key(const char *stem, size_t stem_len,
		   const struct dlk_request *request, int slot,
		   char out[MEMC_KEY_SIZE])
{
	size_t key = strlen(request->key);
	char *end = out + stem_len + key;

	assert(stem_len + key + sizeof(".1023") <= MEMC_KEY_SIZE);
	memcpy(out, stem, stem_len);
	memcpy(end - key, request->key, key);
	*end = '\0';
	if (slot == MEMC_MARK)
		memcpy(end, ".m", sizeof(".m"));
	else if (slot == MEMC_WISH)
		memcpy(end, ".w", sizeof(".w"));
	else if (slot != MEMC_GATE)
		put_number(end, '.', (uint64_t)slot);
}

/* Put the common head of items and marks, up to the limit. */
static char *put_head(char *to, const char *owner, uint64_t token, uint32_t add,
		      uint32_t limit)
{
	to = put(to, MAGIC, strlen(MAGIC));
	to = put(to, owner, strlen(owner));
	to = put_number(to, ' ', token);
	if (token == 0)
		to = put_number(to, '.', add);
	return put_number(to, ' ', limit);
}

size_t dlki_memc_item_print(char out[MEMC_TEXT_SIZE],
			    const struct dlk_request *request, uint64_t token,
			    uint32_t add, uint32_t limit)
{
	const char *label = request->label ? request->label : "";
	char *to = put_head(out, request->owner, token, add, limit);

	*to++ = ' ';
	to = put(to, label, dlk_utf8_clip(label, MEMC_LABEL));
	*to = '\0';
	return (size_t)(to - out);
}

size_t dlki_memc_mark_print(char out[MEMC_TEXT_SIZE],
			    const struct memc_item *mark, uint64_t until_s)
{
	char *to = put_head(out, mark->owner, 0, mark->add, mark->limit);

	to = put_number(to, ' ', until_s);
	if (mark->slots > dlki_memc_limit_slots(mark->limit))
		to = put_number(to, ' ', (uint64_t)mark->slots);
	return (size_t)(to - out);
}

static const char *parse_number(const char *text, char before, uint64_t *out)
{
	return dlki_digits_read(*text == before ? text + 1 : text, out);
}

/* Parse an item.  An item not written by dlock still keeps others out: the
 * owner is "". */
void dlki_memc_item_parse(struct memc_item *item, const char *text)
{
	uint64_t add = 0, limit, slots = 0;
	size_t n;

	item->owner[0] = item->label[0] = '\0';
	item->token = item->add = item->limit = 0;
	item->until_s = 0;
	item->slots = 0;
	if (strncmp(text, MAGIC, strlen(MAGIC)) != 0)
		return;
	text += strlen(MAGIC);
	if (strchrnul(text, ' ') - text != OWNER_LEN)
		return;
	memcpy(item->owner, text, OWNER_LEN);
	item->owner[OWNER_LEN] = '\0';
	text = parse_number(text + OWNER_LEN, ' ', &item->token);
	if (*text == '.')
		text = parse_number(text, '.', &add);
	item->add = (uint32_t)add;
	text = parse_number(text, ' ', &limit);
	item->limit = (uint32_t)limit;
	if (*text != ' ')
		return;
	n = dlk_utf8_clip(text + 1, MEMC_LABEL);
	memcpy(item->label, text + 1, n);
	item->label[n] = '\0';
	text = parse_number(text, ' ', &item->until_s);
	if (*text == ' ')
		(void)parse_number(text, ' ', &slots);
	item->slots = slots < MEMC_PERMITS ? (int)slots : MEMC_PERMITS;
}

int dlki_memc_first_slot(const struct dlk_request *request)
{
	unsigned int sum = 0;

	if (request->kind == DLK_SEMAPHORE)
		return 0;
	for (const char *s = request->owner; *s; s++)
		sum = sum * 31 + (unsigned char)*s;
	return (int)(sum % (unsigned int)dlki_memc_slots(request));
}

/* Return the rest of the lease, on which the holder relies; an item outlives
 * the lease. */
static int64_t remaining_ms(const struct memc_item *item)
{
	if (item->left_s < 0)
		return -1;
	return item->left_s > MEMC_MORE_S ?
		       (item->left_s - MEMC_MORE_S) * 1000 :
		       0;
}

struct dlock_participant dlki_memc_item_show(const struct memc_item *item,
					     const struct dlk_request *request,
					     int slot, int waits, char id[16])
{
	int several = slot == MEMC_GATE && request->kind == DLK_SEMAPHORE;
	int gate = slot == MEMC_GATE && !several;
	struct dlock_participant p = {
		.size = sizeof(p),
		.label = item->label,
		.id = id,
		.shared = !gate,
		.waiting = waits,
		.remaining_ms = remaining_ms(item),
		.limit = gate ? 0 : item->limit,
		.permits = several ? (uint32_t)item->token : 0,
	};

	if (item->owner[0])
		snprintf(id, 16, "%.*s", ID_LEN, item->owner);
	else
		snprintf(id, 16, "?%d", slot);
	if (!p.waiting)
		p.token = item->token;
	return p;
}
