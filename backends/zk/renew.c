/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

/*
 * Being connected, and reading one's own node, prove nothing: a server that is
 * cut off from its leader goes on answering.  A write has to be agreed on.  One
 * is enough for all claims of the session, and for some time.
 */
static int prove(struct zk_hub *h, dlk_time deadline, struct dlk_error *err)
{
	struct zk_call *call;
	int rc;

	if (h->proved >= dlk_now() - h->link->timeout_ms * ZK_MS / 12)
		return 0;
	call = dlki_zk_proof(h);
	dlki_zk_wait(h, &call, 1, deadline);
	rc = dlki_zk_proven(call, err);
	dlki_zk_drop(&call, 1);
	return rc;
}

static enum dlk_lease verdict_on(const struct zk_hub *h, struct zk_ticket *t)
{
	if (t->life != h->link->life || !t->node[0] ||
	    (t->own && t->own->fired == ZK_GONE))
		return DLK_GONE;
	if (h->proved < t->base.since)
		t->base.since = h->proved;
	if (h->link->timeout_ms < t->base.lease_ms)
		t->base.lease_ms = h->link->timeout_ms;
	return DLK_RENEWED;
}

void dlki_zk_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		   enum dlk_lease verdict[], size_t n, dlk_time deadline,
		   struct dlk_error *err)
{
	struct zk_hub *h = ((struct zk_session *)s)->hub;
	dlk_time soon = dlk_now() + s->ttl_ms * ZK_MS / 6;
	uint64_t life;

	/* An ensemble's lease is promised for little more than half of it:
	 * there must be time to say that it is at risk, and to ask again. */
	if (s->margin_ms > s->ttl_ms / 3 && soon < deadline)
		deadline = soon;
	if (dlki_zk_enter(h, deadline, err) != 0)
		return;
	life = h->link->life;
	if (prove(h, deadline, err) == 0 && h->link && h->link->life == life) {
		for (size_t i = 0; i < n; i++)
			verdict[i] = verdict_on(h, (struct zk_ticket *)t[i]);
	}
	dlki_zk_leave(h);
}
