/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database of the model Redis: typed keys with an expiry each.  The time is
 * handed in, in milliseconds since 1970.
 */
#ifndef DLOCK_SIM_REDIS_DB_H
#define DLOCK_SIM_REDIS_DB_H

#include "sim/base/bytes.h"
#include "sim/redis/map.h"
#include "sim/redis/zset.h"

enum rm_type { RM_STRING, RM_HASH, RM_ZSET };

#define RM_NO_EXPIRY INT64_MIN

struct rm_value {
	enum rm_type type;
	int64_t expiry_ms;       /* or RM_NO_EXPIRY */
	struct sim_bytes string; /* of a string */
	struct rm_map hash;      /* of a hash: values are struct sim_bytes */
	struct rm_zset zset;
};

struct rm_db {
	struct rm_map keys; /* values are struct rm_value */
};

void rm_db_clear(struct rm_db *db);

/* Replace all of `to` by a copy of `from`. */
void rm_db_copy(struct rm_db *to, const struct rm_db *from);

/* NULL: not there, or expired; then the key is removed. */
struct rm_value *rm_db_find(struct rm_db *db, struct rm_text key,
			    int64_t now_ms);

/* Put an empty value in the place of the key's value, without an expiry. */
struct rm_value *rm_db_put(struct rm_db *db, struct rm_text key,
			   enum rm_type type);

/* 1: the key was there, and had not expired. */
int rm_db_remove(struct rm_db *db, struct rm_text key, int64_t now_ms);

/* Remove a hash, sorted set or list that has become empty. */
void rm_db_tidy(struct rm_db *db, struct rm_text key);

/* Remove all expired keys. */
void rm_db_expire(struct rm_db *db, int64_t now_ms);

/* The bytes of a field; NULL: not there. */
struct sim_bytes *rm_hash_find(const struct rm_value *v, struct rm_text field);

/* 1: the field is new. */
int rm_hash_put(struct rm_value *v, struct rm_text field, struct rm_text value);

/* 1: the field was there. */
int rm_hash_remove(struct rm_value *v, struct rm_text field);

#endif
