/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lease counts from.
 *
 * A standalone server ends a session one time-out after the last request that
 * it took, so that a lease may count from when an answered write was sent.  In
 * an ensemble the leader ends sessions.  A follower tells the leader which
 * sessions it has heard from only in its answers to the leader's pings, which
 * come every half tick.  So the agreement on a write does not say what the
 * leader counts from.
 *
 * So let W1 be any request, answered by the server that we are connected to,
 * and W2 a write, sent over the same connection a tick or more after that
 * answer, and agreed on.
 *
 *  - The server noted the session before it answered W1.
 *  - The leader pinged it within half a tick of that, and it answered with what
 *    it had noted.  The ping has another half tick to arrive.
 *  - A follower talks to its leader over one connection, in order, and W2 was
 *    sent after that answer.  The write was agreed on: the leader has read it,
 *    and so it has read the answer.
 *  - The leader ends the session one time-out after that reading, not earlier.
 *    A new leader gives every session a whole time-out when it begins, which is
 *    after the agreement.
 *
 * So a lease counts from when W1 was sent, whatever paused in between.  A
 * connection counts as such a request, too: the leader itself is asked whether
 * the session stands, after the last request that an earlier connection
 * answered.  Any write will do for W2 then.
 *
 * The requests that may serve as W1 are the marks, kept an eighth of a tick
 * apart.  While the program asks for nothing, probe.c sends a read from time to
 * time, and one more a good tick before a renewal is due.
 */
#include "backends/zk/lease.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"

#include <string.h>

#define LEAST_TICKS 4

dlk_time dlki_zk_tick_ns(const struct zk_session *s)
{
	return s->config.tick_ms * DLK_MS;
}

dlk_time dlki_zk_timeout_ns(const struct zk_session *s)
{
	return s->lease.timeout_ms * DLK_MS;
}

static const struct zk_mark *newest_mark(const struct zk_lease *l)
{
	return &l->mark[(l->marks + ZK_MARKS - 1) % ZK_MARKS];
}

dlk_time dlki_zk_lease_marked(const struct zk_session *s)
{
	return newest_mark(&s->lease)->sent;
}

static void add_mark(struct zk_lease *l, dlk_time sent, dlk_time answered)
{
	l->mark[l->marks++ % ZK_MARKS] = (struct zk_mark){ sent, answered };
}

void dlki_zk_lease_begin(struct zk_session *s, dlk_time asked)
{
	memset(&s->lease, 0, sizeof(s->lease));
	s->lease.heard = asked;
}

void dlki_zk_lease_connected(struct zk_session *s)
{
	struct zk_lease *l = &s->lease;

	l->marks = 0;
	add_mark(l, l->heard, 0);
}

static void prove_by_write(struct zk_session *s, dlk_time sent)
{
	struct zk_lease *l = &s->lease;

	if (s->probe.standalone && sent > l->proved)
		l->proved = sent;
	for (uint64_t i = 0; i < l->marks && i < ZK_MARKS; i++) {
		const struct zk_mark *m =
			&l->mark[(l->marks - 1 - i) % ZK_MARKS];

		if (m->sent <= l->proved)
			return;
		if (m->answered + dlki_zk_tick_ns(s) <= sent) {
			l->proved = m->sent;
			return;
		}
	}
}

void dlki_zk_lease_answered(struct zk_session *s, const struct zk_call *call,
			    int agreed)
{
	struct zk_lease *l = &s->lease;

	if (call->sent > l->heard)
		l->heard = call->sent;
	if (agreed)
		prove_by_write(s, call->sent);
	if (call->sent - newest_mark(l)->sent >= dlki_zk_tick_ns(s) / 8)
		add_mark(l, call->sent, dlk_now());
}

/* ---- How much is left ---------------------------------------------------- */

/* The margin is a twentieth. */
static dlk_time lease_end(const struct zk_session *s)
{
	return s->lease.proved + dlki_zk_timeout_ns(s) / 20 * 19;
}

/* When a write proves the newest mark: a tick after its answer. */
static dlk_time next_proof(const struct zk_session *s)
{
	return s->probe.standalone ?
		       0 :
		       newest_mark(&s->lease)->answered + dlki_zk_tick_ns(s);
}

int dlki_zk_lease_fresh(const struct zk_session *s, int part)
{
	dlk_time most = dlki_zk_timeout_ns(s) / part;

	if (!s->probe.standalone)
		most += dlki_zk_tick_ns(s) + dlki_zk_tick_ns(s) / 4;
	return s->lease.proved > dlk_now() - most;
}

void dlki_zk_lease_tell(const struct zk_session *s, struct dlk_ticket *t)
{
	int64_t lease_ms = (lease_end(s) - t->since) / DLK_MS;

	if (lease_ms < t->lease_ms)
		t->lease_ms = lease_ms;
	/* The core may be early by a sixtieth. */
	t->renew_from = next_proof(s) + dlki_zk_timeout_ns(s) / 50;
}

/*
 * With less left, a hold could end before even an immediate renewal.  That
 * happens after the process was stopped: the leader may not have heard from us
 * for as long.
 */
int dlki_zk_lease_suffices(const struct zk_session *s, struct dlk_ticket *t,
			   struct dlk_error *err)
{
	dlk_time left = lease_end(s) - dlk_now();
	dlk_time least = dlki_zk_timeout_ns(s) / 4;

	if (!s->probe.standalone &&
	    least < dlki_zk_tick_ns(s) + dlki_zk_timeout_ns(s) / 12)
		least = dlki_zk_tick_ns(s) + dlki_zk_timeout_ns(s) / 12;
	if (left >= least)
		return 1;
	if (dlki_zk_lease_too_short(s, err))
		return 0;
	dlk_fail(err, DLOCK_EUNREACHABLE,
		 "the servers have not yet confirmed that the session stands: "
		 "this process was stopped, or cut off, for much of the ttl");
	t->settled = 1;
	return 0;
}

int dlki_zk_lease_too_short(const struct zk_session *s, struct dlk_error *err)
{
	long long least_ms = LEAST_TICKS * (long long)s->config.tick_ms;

	if (!s->probe.known || s->probe.standalone ||
	    s->lease.timeout_ms >= least_ms)
		return 0;
	dlk_fail(err, DLOCK_EINVAL,
		 "sessions of %lld ms are too short for an ensemble with a "
		 "tick of %lld ms: give ttl=%lldms or more, or if the servers' "
		 "tickTime is less, tick=",
		 (long long)s->lease.timeout_ms, (long long)s->config.tick_ms,
		 least_ms);
	return 1;
}
