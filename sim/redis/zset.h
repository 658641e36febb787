/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sorted set of the model Redis: members by score, and by text where scores
 * are equal.  All zeroes are an empty set.
 */
#ifndef DLOCK_SIM_REDIS_ZSET_H
#define DLOCK_SIM_REDIS_ZSET_H

#include "sim/redis/map.h"

struct rm_member {
	double score;
	struct rm_text text; /* the member's own */
};

struct rm_zset {
	struct rm_map by_text;      /* values are members */
	struct rm_member **ordered; /* by_text.n of them */
	size_t room;
};

void rm_zset_clear(struct rm_zset *z);

static inline size_t rm_zset_n(const struct rm_zset *z)
{
	return z->by_text.n;
}

/* NULL: not there. */
struct rm_member *rm_zset_find(const struct rm_zset *z, struct rm_text member);

/* 1: the member is new; 0: the member has a new score, or the same. */
int rm_zset_add(struct rm_zset *z, struct rm_text member, double score);

/* 1: the member was there. */
int rm_zset_remove(struct rm_zset *z, struct rm_text member);

/* Where the member stands, from 0. */
size_t rm_zset_rank(const struct rm_zset *z, const struct rm_member *member);

#endif
