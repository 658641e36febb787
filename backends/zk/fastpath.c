/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppose that our node was alone in the queue, with number s, and has been
 * deleted.  A directory numbers the nodes made there one by one.  If our next
 * node gets s + 1, then no other node was made in between, and no other node is
 * there.
 *
 * There is another way to get s + 1: the directory was removed and made again,
 * and s + 1 nodes were made there, numbered from 0, each by a transaction, as
 * dlock makes them.  With the deletion of our node, and the removal and making
 * of the directory, that is s + 4 transactions in between.  There were fewer if
 * the zxids of our two nodes differ by less than s + 5.
 *
 * A server that lost some of the history ends the connection, and so does a new
 * leader.  So observations on an earlier connection do not count.
 */
#include "backends/zk/fastpath.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <string.h>

static struct zk_uncontended *slot_of(struct zk_session *s, const char *key,
				      size_t len)
{
	return &s->fastpath.lock[dlki_zk_hash(key, len) % ZK_FASTPATH_LOCKS];
}

void dlki_zk_fastpath_stays(struct zk_session *s, const char *key, size_t len)
{
	slot_of(s, key, len)->left = 0;
}

static int is_valid_for(const struct zk_uncontended *a,
			const struct zk_session *s, const char *key)
{
	return a->connects == s->connects && strcmp(a->key, key) == 0;
}

int dlki_zk_fastpath_likely(struct zk_session *s, const char *key)
{
	const struct zk_uncontended *a = slot_of(s, key, strlen(key));

	return is_valid_for(a, s, key) && a->left && a->trusted;
}

int dlki_zk_fastpath_proven(struct zk_session *s, const struct zk_ticket *t)
{
	const char *key = t->base.request.key;
	struct zk_uncontended *a = slot_of(s, key, strlen(key));
	struct zk_participant me;
	int64_t between;

	if (!is_valid_for(a, s, key) || !a->left ||
	    !dlki_zk_parse(t->node, &me))
		return 0;
	between = t->czxid - a->czxid;
	/* The last number is given to many nodes. */
	a->trusted = me.sequence == a->sequence + 1 &&
		     me.sequence < ZK_LAST_SEQUENCE && between > 0 &&
		     between < (int64_t)a->sequence + 5;
	if (a->trusted) {
		a->sequence = me.sequence;
		a->czxid = t->czxid;
		a->left = 0;
	}
	return a->trusted;
}

void dlki_zk_fastpath_learn(struct zk_session *s, const struct zk_ticket *t)
{
	const char *key = t->base.request.key;
	struct zk_uncontended *a = slot_of(s, key, strlen(key));
	struct zk_participant me;

	if ((is_valid_for(a, s, key) && a->czxid == t->czxid) ||
	    !dlki_zk_parse(t->node, &me) || strlen(key) >= sizeof(a->key) ||
	    me.sequence == ZK_LAST_SEQUENCE)
		return;
	memcpy(a->key, key, strlen(key) + 1);
	a->connects = s->connects;
	a->sequence = me.sequence;
	a->czxid = t->czxid;
	a->left = 0;
	a->trusted = 0;
}

void dlki_zk_fastpath_deleted(struct zk_session *s, const struct zk_ticket *t)
{
	const char *key = t->base.request.key;
	struct zk_uncontended *a = slot_of(s, key, strlen(key));

	if (is_valid_for(a, s, key) && a->czxid == t->czxid)
		a->left = 1;
}
