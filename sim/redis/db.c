/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/db.h"

#include <stdlib.h>

#include "sim/base/memory.h"

/* ---- Values -------------------------------------------------------------- */

static void free_field(void *value)
{
	sim_bytes_free(value);
	free(value);
}

static void free_value(void *value)
{
	struct rm_value *v = value;

	sim_bytes_free(&v->string);
	rm_map_clear(&v->hash, free_field);
	rm_zset_clear(&v->zset);
	free(v);
}

static struct rm_text text_of(const struct sim_bytes *b)
{
	return (struct rm_text){ sim_bytes_text(b), b->len };
}

static struct rm_value *copy_value(const struct rm_value *from)
{
	struct rm_value *to = sim_alloc(sizeof(*to));

	to->type = from->type;
	to->expiry_ms = from->expiry_ms;
	sim_bytes_add(&to->string, sim_bytes_text(&from->string),
		      from->string.len);
	for (size_t i = 0; i < from->hash.n; i++)
		rm_hash_put(to, from->hash.entries[i].key,
			    text_of(from->hash.entries[i].value));
	for (size_t i = 0; i < rm_zset_n(&from->zset); i++)
		rm_zset_add(&to->zset, from->zset.ordered[i]->text,
			    from->zset.ordered[i]->score);
	return to;
}

struct sim_bytes *rm_hash_find(const struct rm_value *v, struct rm_text field)
{
	struct rm_entry *entry = rm_map_find(&v->hash, field);

	return entry ? entry->value : NULL;
}

int rm_hash_put(struct rm_value *v, struct rm_text field, struct rm_text value)
{
	struct rm_entry *entry = rm_map_add(&v->hash, field);
	int is_new = !entry->value;

	if (is_new)
		entry->value = sim_alloc(sizeof(struct sim_bytes));
	sim_bytes_resize(entry->value, 0);
	sim_bytes_add(entry->value, value.s, value.len);
	return is_new;
}

int rm_hash_remove(struct rm_value *v, struct rm_text field)
{
	struct rm_entry *entry = rm_map_find(&v->hash, field);

	if (!entry)
		return 0;
	free_field(rm_map_remove(&v->hash, entry));
	return 1;
}

/* ---- Keys ---------------------------------------------------------------- */

static int has_expired(const struct rm_value *v, int64_t now_ms)
{
	return v->expiry_ms != RM_NO_EXPIRY && v->expiry_ms < now_ms;
}

void rm_db_clear(struct rm_db *db)
{
	rm_map_clear(&db->keys, free_value);
}

void rm_db_copy(struct rm_db *to, const struct rm_db *from)
{
	rm_db_clear(to);
	for (size_t i = 0; i < from->keys.n; i++)
		rm_map_add(&to->keys, from->keys.entries[i].key)->value =
			copy_value(from->keys.entries[i].value);
}

struct rm_value *rm_db_find(struct rm_db *db, struct rm_text key,
			    int64_t now_ms)
{
	struct rm_entry *entry = rm_map_find(&db->keys, key);

	if (!entry)
		return NULL;
	if (!has_expired(entry->value, now_ms))
		return entry->value;
	free_value(rm_map_remove(&db->keys, entry));
	return NULL;
}

struct rm_value *rm_db_put(struct rm_db *db, struct rm_text key,
			   enum rm_type type)
{
	struct rm_entry *entry = rm_map_add(&db->keys, key);
	struct rm_value *v = sim_alloc(sizeof(*v));

	if (entry->value)
		free_value(entry->value);
	v->type = type;
	v->expiry_ms = RM_NO_EXPIRY;
	entry->value = v;
	return v;
}

int rm_db_remove(struct rm_db *db, struct rm_text key, int64_t now_ms)
{
	if (!rm_db_find(db, key, now_ms))
		return 0;
	free_value(rm_map_remove(&db->keys, rm_map_find(&db->keys, key)));
	return 1;
}

void rm_db_tidy(struct rm_db *db, struct rm_text key)
{
	struct rm_entry *entry = rm_map_find(&db->keys, key);
	const struct rm_value *v = entry ? entry->value : NULL;

	if (v && v->type != RM_STRING && v->hash.n == 0 &&
	    rm_zset_n(&v->zset) == 0)
		free_value(rm_map_remove(&db->keys, entry));
}

void rm_db_expire(struct rm_db *db, int64_t now_ms)
{
	for (size_t i = db->keys.n; i > 0; i--) {
		struct rm_entry *entry = &db->keys.entries[i - 1];

		if (has_expired(entry->value, now_ms))
			free_value(rm_map_remove(&db->keys, entry));
	}
}
