/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: the request of a client, and the transaction that comes of it. */
#ifndef DLOCK_SIM_ZK_OP_H
#define DLOCK_SIM_ZK_OP_H

#include <stddef.h>
#include <stdint.h>

enum { ZK_PATH = 256, ZK_DATA = 512, ZK_PARTS = 36 };

enum zk_type {
	ZK_CREATE = 1,
	ZK_DELETE = 2,
	ZK_EXISTS = 3,
	ZK_GET = 4,
	ZK_SET = 5,
	ZK_CHILDREN = 8,
	ZK_SYNC = 9,
	ZK_PING = 11,
	ZK_CHILDREN2 = 12,
	ZK_CHECK = 13,
	ZK_MULTI = 14,
	ZK_CREATE2 = 15,
	ZK_REMOVE_WATCHES = 18,
	ZK_CREATE_CONTAINER = 19,
	ZK_DELETE_CONTAINER = 20,
	ZK_AUTH = 100,
	ZK_BEGIN_SESSION = -10,
	ZK_END_SESSION = -11,
};

/* Errors as replies have them. */
enum {
	ZK_E_OTHER_PART = -2,
	ZK_E_ARGUMENTS = -8,
	ZK_E_NO_NODE = -101,
	ZK_E_VERSION = -103,
	ZK_E_EPHEMERAL_PARENT = -108,
	ZK_E_EXISTS = -110,
	ZK_E_NOT_EMPTY = -111,
	ZK_E_NO_WATCHER = -121,
};

enum { ZK_EPHEMERAL = 1, ZK_SEQUENTIAL = 2, ZK_CONTAINER = 4 };

/* The owner of a container. */
#define ZK_CONTAINER_OWNER INT64_MIN

/* A check, delete, set or create of a multi; a set and a create have the data
 * of the op, a create also the flags. */
struct zk_part {
	enum zk_type type;
	int32_t version;
	char path[ZK_PATH];
};

struct zk_op {
	int32_t xid;
	enum zk_type type;
	int64_t session;
	char path[ZK_PATH]; /* of a sequential node: without the number, until
			     * the transaction is made */
	char data[ZK_DATA];
	int32_t len; /* of the data; -1: no data */
	int32_t version, flags, watch;
	struct zk_part parts[ZK_PARTS];
	size_t n_parts;

	/* Of the transaction. */
	int64_t zxid, wall_ms;
	int32_t err;
	size_t failed; /* the part with the error */
};

#endif
