/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ticket's own node.  With the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_NODE_H
#define DLOCK_BACKENDS_ZK_NODE_H

#include "backends/zk/zk.h"

/* Find the node by the owner, after a reply was lost.  0: t->node is set, or ""
 * for certain. */
int dlki_zk_node_recover(struct zk_session *s, struct zk_ticket *t,
			 const char *dir, dlk_time deadline,
			 struct dlk_error *err);
/* Delete the node, with or without a known name. */
int dlki_zk_node_delete(struct zk_session *s, struct zk_ticket *t,
			dlk_time deadline, struct dlk_error *err);

#endif
