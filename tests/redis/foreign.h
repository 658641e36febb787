/* SPDX-License-Identifier: Apache-2.0 */
/* A client that knows dlock not, and takes the key "x" by SET NX PX. */
#ifndef DLOCK_TESTS_REDIS_FOREIGN_H
#define DLOCK_TESTS_REDIS_FOREIGN_H

struct redisContext;

struct redisContext *foreign_client(int port);
void foreign_free(struct redisContext *r);

/* 1: taken, for `px_ms`; 0: others have the key. */
int foreign_take(struct redisContext *r, const char *value, int px_ms);

/* Compare and delete, as the documentation of SET has it.  1: deleted. */
int foreign_give(struct redisContext *r, const char *value);

#endif
