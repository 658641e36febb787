/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction logs of ZooKeeper, written by the test: states that a server
 * reaches after years. */
#ifndef DLOCK_TESTS_ZK_LOG_H
#define DLOCK_TESTS_ZK_LOG_H

#include <stddef.h>
#include <stdint.h>

struct lab_server;

#define ZK_LOG_SIZE 4096

struct zk_log {
	unsigned char data[ZK_LOG_SIZE];
	size_t len;
	int64_t zxid; /* of the last transaction */
};

void zk_log_begin(struct zk_log *log);

/* Add the creation of `path`, after which the parent's version is `count`. */
void zk_log_create(struct zk_log *log, const char *path, int32_t count);

/* Start a server with this log. */
struct lab_server *zk_log_server(const struct zk_log *log);

/* Start a server on which the sequence numbers of the lock directory `dir` are
 * nearly used up.  The server removes no empty directory. */
struct lab_server *zk_log_old_server(const char *dir);

#endif
