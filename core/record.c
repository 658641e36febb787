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

	return strcmp(x->key, y->key);
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
	size_t size = strlen(name) + 1;
	struct dlki_record *record = calloc(1, sizeof(*record) + size);

	if (!record)
		return NULL;
	record->client = c;
	record->kind = kind;
	record->limit = limit;
	memcpy(record->name, name, size);
	dlki_name_key(kind, name, record->key);
	TAILQ_INIT(&record->parked);
	return record;
}

struct dlk_request dlki_record_request(const struct dlki_record *r)
{
	return (struct dlk_request){
		.name = r->name,
		.key = r->key,
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
