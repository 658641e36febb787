/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction logs of ZooKeeper, made by hand: what takes a server years. */
#ifndef DLOCK_TESTS_ZK_LOG_H
#define DLOCK_TESTS_ZK_LOG_H

#include <stddef.h>
#include <stdint.h>

#define ZK_LOG_SIZE 4096

struct zk_log {
	unsigned char data[ZK_LOG_SIZE];
	size_t len;
	int64_t zxid; /* of the last transaction */
};

void zk_log_begin(struct zk_log *log);

/* Node `path` was made, that counted its parent's children as the `count`th. */
void zk_log_create(struct zk_log *log, const char *path, int32_t count);

/* Write it where a server that has never seen a session finds it. */
void zk_log_write(const struct zk_log *log, const char *dir);

#endif
