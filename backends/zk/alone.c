/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who takes a lock again that nobody else has asked for meanwhile need not look
 * at the line.  Let us have been alone in it with number s, and our node be
 * deleted.  A directory numbers every node made in it, one by one: s + 1 as the
 * next number says that nobody else's was made, and that nobody's is there.
 *
 * One thing else can bring that number: the directory was removed and made
 * again, and s + 1 nodes, from 0 on, were made in it, none of ours two at a
 * time.  These, our node's deletion and the two of the directory are s + 4
 * transactions in between; fewer have been if the zxids of the two nodes differ
 * by less than s + 5.  A server that lost some of the past ends the connection,
 * and so does a new leader: nothing seen on an earlier connection counts.
 */
#include "backends/zk/zk.h"

#include <string.h>

static struct zk_alone *find(struct zk_hub *h, const char *key)
{
	uint32_t hash = 2166136261u;

	for (const char *p = key; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return &h->alone[(hash ^ hash >> 16) % ZK_ALONE];
}

static int is_of(const struct zk_alone *a, const struct zk_hub *h,
		 const char *key)
{
	return a->connects == h->connects && strcmp(a->key, key) == 0;
}

int dlki_zk_alone_likely(struct zk_hub *h, const char *key)
{
	const struct zk_alone *a = find(h, key);

	return is_of(a, h, key) && a->left && a->trusted;
}

int dlki_zk_alone_still(struct zk_hub *h, const struct zk_ticket *t)
{
	const char *key = t->base.claim.key;
	struct zk_alone *a = find(h, key);
	struct zk_party me;
	int64_t between;

	if (!is_of(a, h, key) || !a->left || !dlki_zk_parse(t->node, &me))
		return 0;
	between = t->czxid - a->czxid;
	/* Of those with the last number there are many. */
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

void dlki_zk_alone_seen(struct zk_hub *h, const struct zk_ticket *t)
{
	const char *key = t->base.claim.key;
	struct zk_alone *a = find(h, key);
	struct zk_party me;

	if ((is_of(a, h, key) && a->czxid == t->czxid) ||
	    !dlki_zk_parse(t->node, &me) || strlen(key) >= sizeof(a->key) ||
	    me.sequence == ZK_LAST_SEQUENCE)
		return;
	memcpy(a->key, key, strlen(key) + 1);
	a->connects = h->connects;
	a->sequence = me.sequence;
	a->czxid = t->czxid;
	a->left = 0;
	a->trusted = 0;
}

void dlki_zk_alone_left(struct zk_hub *h, const struct zk_ticket *t)
{
	const char *key = t->base.claim.key;
	struct zk_alone *a = find(h, key);

	if (is_of(a, h, key) && a->czxid == t->czxid)
		a->left = 1;
}
