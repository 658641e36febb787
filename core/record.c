/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

const char *dlki_kind_name(enum dlk_kind kind)
{
	static const char *const names[] = { "lock", "semaphore" };

	return names[kind];
}

static int compare_records(const void *a, const void *b)
{
	const struct dlki_record *x = a;
	const struct dlki_record *y = b;

	return strcmp(dlki_record_key(x), dlki_record_key(y));
}

void dlki_record_unref(struct dlki_record *record)
{
	struct dlock_client *c = record->client;

	if (--record->refs > 0)
		return;
	tdelete(record, &c->records, compare_records);
	free(record);
	c->refs--;
}

struct dlki_record *dlki_record_new(struct dlock_client *c, enum dlk_kind kind,
				    const char *name, uint32_t limit)
{
	char key[DLKI_KEY_SIZE];
	size_t name_size = strlen(name) + 1, key_size;
	struct dlki_record *record;

	dlki_name_key(kind, name, key);
	key_size = strlen(key) + 1;
	record = calloc(1, sizeof(*record) + name_size + key_size);
	if (!record)
		return NULL;
	record->client = c;
	record->kind = kind;
	record->limit = limit;
	record->key_at = (uint16_t)name_size;
	memcpy(record->name, name, name_size);
	memcpy(record->name + name_size, key, key_size);
	TAILQ_INIT(&record->parked);
	return record;
}

struct dlk_request dlki_record_request(const struct dlki_record *r)
{
	return (struct dlk_request){
		.name = r->name,
		.key = dlki_record_key(r),
		.label = r->client->label,
		.kind = r->kind,
		.mode = r->kind == DLK_SEMAPHORE ? DLK_SHARED : DLK_EXCLUSIVE,
		.limit = r->limit,
	};
}

int dlki_record_intern(struct dlki_record **out, struct dlki_record *fresh,
		       struct dlk_error *err)
{
	struct dlock_client *c = fresh->client;
	struct dlki_record **node = tsearch(fresh, &c->records,
					    compare_records);

	if (!node)
		return dlki_nomem(err);
	if (*node == fresh)
		c->refs++;
	else if ((*node)->limit != fresh->limit)
		return dlk_fail(err, DLOCK_EINVAL,
				"semaphore '%s' has %u permits here, not %u",
				fresh->name, (unsigned int)(*node)->limit,
				(unsigned int)fresh->limit);
	(*node)->refs++;
	*out = *node;
	return 0;
}
