/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of a follower with the leader: messages either way, each in
 * order. */
#ifndef DLOCK_SIM_ZK_LINKS_H
#define DLOCK_SIM_ZK_LINKS_H

#include <stddef.h>

#include "sim/zk/op.h"
#include "sim/zk/sessions.h"

enum { ZK_TOUCHED = 64 };

enum zk_kind {
	ZK_ASK,    /* up: a write or a sync */
	ZK_BEGIN,  /* up: a session is to begin, or to go on */
	ZK_HEARD,  /* up, the answer to a ping: the sessions heard */
	ZK_COMMIT, /* down: a transaction */
	ZK_SYNCED, /* down: the answer to a sync */
	ZK_BEGUN,  /* down: the answer to ZK_BEGIN */
	ZK_MOVED,  /* down: the session has another connection */
	ZK_LEADER_PING,
};

struct zk_message {
	struct zk_message *next;
	int64_t at_us;
	enum zk_kind kind;
	uint64_t conn; /* the connection that has asked; or 0 */
	struct zk_op op;
	struct zk_session session; /* a session's number 0: a new one, or
				    * unknown */
	int64_t heard[ZK_TOUCHED];
	size_t n_heard;
};

struct zk_link {
	struct zk_message *first, **last;
	int64_t last_us;
	int64_t held_from_us, held_us; /* no message arrives in between */
};

void zk_link_begin(struct zk_link *l);
void zk_link_clear(struct zk_link *l);

/* Add a message that arrives at `at_us`, or later; fill it in. */
struct zk_message *zk_link_put(struct zk_link *l, enum zk_kind kind,
			       uint64_t conn, int64_t at_us);

/* When the first message arrives; INT64_MAX: no message. */
int64_t zk_link_due(const struct zk_link *l);

/* Take the first message; free() it. */
struct zk_message *zk_link_take(struct zk_link *l);

#endif
