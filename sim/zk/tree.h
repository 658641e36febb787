/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a server, after the transactions up to `zxid`. */
#ifndef DLOCK_SIM_ZK_TREE_H
#define DLOCK_SIM_ZK_TREE_H

#include "sim/base/bytes.h"
#include "sim/zk/op.h"

struct zk_node {
	struct zk_node *next; /* in the order of creation */
	char *path;
	char *data;
	int32_t len;
	int64_t czxid, mzxid, pzxid, ctime, mtime;
	int32_t version, creates, children;
	int64_t owner; /* a session, ZK_CONTAINER_OWNER, or 0 */
};

struct zk_tree {
	struct zk_node *nodes;
	int64_t zxid;
};

/* The types of a watch's event. */
enum zk_event { ZK_CREATED = 1, ZK_DELETED, ZK_CHANGED, ZK_CHILD };

typedef void zk_on_event(void *arg, enum zk_event event, const char *path);

/* A new ensemble's tree.  `config` is the data of /zookeeper/config. */
void zk_tree_begin(struct zk_tree *t, const char *config);
void zk_tree_copy(struct zk_tree *to, const struct zk_tree *from);
void zk_tree_free(struct zk_tree *t);

struct zk_node *zk_tree_find(const struct zk_tree *t, const char *path);

/* Whether `path` names a child of `parent`. */
int zk_tree_is_child(const char *path, const char *parent);

/* Make a transaction of a request: set the error, and the path of a sequential
 * node. */
void zk_tree_prepare(const struct zk_tree *t, struct zk_op *op);

/* Carry out a transaction. */
void zk_tree_apply(struct zk_tree *t, const struct zk_op *op,
		   zk_on_event *on_event, void *arg);

void zk_put_stat(struct sim_bytes *out, const struct zk_node *n);

/* The n-th container that was used and is empty; NULL: no such container. */
const struct zk_node *zk_tree_unused(const struct zk_tree *t, size_t n);

#endif
