/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a node in a wait queue: the label, a NUL, the token less the
 * czxid, for the node of a try the word "try", and where the node carries a set
 * number of permits (limit.h) the word "set".  With the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_DATA_H
#define DLOCK_BACKENDS_ZK_DATA_H

#include "backends/zk/zk.h"

#include <sys/queue.h>

struct zk_call;

/* Data that was written to a node, without an answer so far. */
struct zk_data;
TAILQ_HEAD(zk_datas, zk_data);

/* The data of the ticket's node.  To be freed; NULL: out of memory. */
char *dlki_zk_data_new(const struct zk_ticket *t, size_t *len);
/* Write the data of the ticket's node again.  Does not wait for the answer. */
void dlki_zk_data_write(struct zk_session *s, const struct zk_ticket *t);
/* There is another connection: send again what has no answer. */
void dlki_zk_data_up(struct zk_session *s);
/* The session has ended, and the nodes with it. */
void dlki_zk_data_over(struct zk_session *s);

/* The token of the node.  Older versions wrote no number: the token is the
 * czxid. */
uint64_t dlki_zk_data_token(const struct zk_call *node);
/* Does the node belong to a try, not yet granted? */
int dlki_zk_data_is_try(const struct zk_call *node);
/* Does the node say that it carries a set number? */
int dlki_zk_data_carries(const struct zk_call *node);

#endif
