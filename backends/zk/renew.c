/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/call.h"
#include "backends/zk/session.h"

/*
 * Neither a connection nor a read of our node is proof: a server cut off from
 * the leader still answers.  The servers have to agree on a write.  A single
 * write is enough for all claims of the session, and for some time.  On a slow
 * way the write may come before the last answer under the lease: the core asks
 * again sooner.
 */
static int prove_session(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err)
{
	struct zk_call *call;
	int rc;

	if (dlki_zk_lease_fresh(s, 12))
		return 0;
	call = dlki_zk_proof(s);
	/* Perhaps the server is to be left. */
	dlki_zk_timer_now(s);
	dlki_zk_wait(s, &call, 1, deadline);
	rc = dlki_zk_proven(call, err);
	dlki_zk_drop(&call, 1);
	return rc;
}

static enum dlk_renewal renewal_verdict(struct zk_session *s,
					struct zk_ticket *t)
{
	if (!t->node[0] || (t->own && t->own->fired == ZK_GONE))
		return DLK_GONE;
	/* An operator took the right to read our node away. */
	if (t->own && t->own->fired == ZK_HIDDEN)
		dlki_zk_watcher_defer(s, t->own);
	dlki_zk_lease_tell(s, &t->base);
	return DLK_RENEWED;
}

/* Leave time to move to another server, and to report the lease at risk if no
 * server answers. */
static dlk_time renewal_deadline(const struct dlk_session *base,
				 dlk_time deadline)
{
	dlk_time soon = dlk_now() + base->ttl_ms * DLK_MS / 4;

	return soon < deadline ? soon : deadline;
}

void dlki_zk_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		   enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		   struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base);
	uint64_t connects;
	int rc, again;

	deadline = renewal_deadline(base, deadline);
	do {
		if (dlki_zk_enter(s, deadline, err) != 0)
			return;
		connects = s->connects;
		rc = prove_session(s, deadline, err);
		if (rc == 0) {
			err->code = 0; /* of an earlier round */
			for (size_t i = 0; i < n; i++)
				verdict[i] = renewal_verdict(
					s, (struct zk_ticket *)t[i]);
			dlki_zk_probe_renewed(s);
		}
		if (rc != 0)
			dlki_zk_await_change(s, deadline);
		/* Another connection may do better, or there is memory. */
		again = rc == DLOCK_ENOMEM ||
			(rc != 0 &&
			 (!dlki_zk_is_up(s) || s->connects != connects));
		dlki_zk_leave(s);
	} while (again && dlk_now() < deadline);
}
