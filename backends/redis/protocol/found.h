/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks under a prefix, as SCAN finds them.  Pure.
 */
#ifndef DLOCK_REDIS_FOUND_H
#define DLOCK_REDIS_FOUND_H

#include "backends/redis/protocol/args.h"
#include "backends/redis/protocol/reply.h"

struct redis_found {
	char (*v)[72]; /* the locks' keys, the part between the braces */
	size_t n, room;
	size_t described; /* how many are described */
	int whole;        /* SCAN has come to the end: sorted, each key once */
	char cursor[32];
	char begin[RD_KEY_SIZE]; /* "prefix:{" */
	size_t begin_len;
};

void dlki_redis_found_init(struct redis_found *f, const char *prefix);
void dlki_redis_found_free(struct redis_found *f);

/* Append the next step of SCAN, and take in the answer: 0, ENOMEM, or EPROTO if
 * the answer makes no sense. */
void dlki_redis_found_scan(const struct redis_found *f,
			   struct redis_commands *out);
int dlki_redis_found_add(struct redis_found *f, const struct redis_reply *r);

/* Append calls of `describe` for the next keys; return how many.  The first
 * call brings the script's text: a server without the script would refuse all
 * calls. */
size_t dlki_redis_found_describe(const struct redis_found *f,
				 struct redis_commands *out);

/* Take in the answer to the next call. */
enum redis_found_what {
	RD_FOUND_NOTHING, /* the lock is not in use, or not a lock */
	RD_FOUND_LOCK,    /* in `info` and `name` */
	RD_FOUND_FAULT    /* the answer is an error */
};
enum redis_found_what dlki_redis_found_described(struct redis_found *f,
						 const struct redis_reply *r,
						 struct dlock_lock_info *info,
						 char name[256]);

#endif
