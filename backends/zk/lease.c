/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the lease.
 *
 * A standalone server ends a session one time-out after the last request that
 * it took, so a lease may count from when an answered write was sent.  In an
 * ensemble the leader ends sessions.  A follower tells the leader which
 * sessions it has heard from only in the answers to the leader's pings, which
 * come every half tick.  So the agreement on a write does not say from when the
 * leader counts.
 *
 * A write and a sync pass the leader: the follower sends them to the leader,
 * and answers when the leader has answered.  Over the single connection between
 * them both talk in order.  So let there be four requests over a single
 * connection of ours:
 *
 *  1. The first may be any.  The server noted the session before it answered.
 *  2. The second passes the leader.  It is sent three quarters of a tick after
 *     the answer to the first.  When the leader took the second, the leader had
 *     sent a ping after 1, or was late with the ping, as after a pause of the
 *     process.
 *  3. The third passes the leader, too.  It is sent a quarter of a tick after
 *     the answer to the second, and the leader has made up for the late ping
 *     when it takes the third.  The leader's answer to the third comes behind
 *     the ping.  So the follower has answered the ping when it answers us.
 *  4. The fourth is a write, sent after the answer to the third, and agreed on.
 *     The leader has read the write, and so has read the answer to the ping
 *     before.
 *
 * The leader ends the session one time-out after that reading, not earlier.  A
 * new leader gives every session a whole time-out when it begins, which is
 * after the agreement.
 *
 * So a lease counts from when the first was sent, whatever was held up, lost or
 * paused in between.  tests/model/zk-lease.pml has this as a model.  Only a
 * second pause of the leader, within a quarter of a tick after the first, is
 * too much.
 *
 * A connection counts as the first three, since the leader itself is asked
 * whether the session stands, after the last request that an earlier connection
 * answered.
 *
 * Each answered request may serve as any of them.  The marks of a stage are the
 * first requests of the requests that have come so far, an eighth of a tick
 * apart.  While the program asks for too little, probe.c sends the first three
 * from time to time, and again a good tick before a renewal is due.
 */
#include "backends/zk/lease.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"

#include <string.h>

#define LEAST_TICKS 4

dlk_time dlki_zk_tick_ns(const struct zk_session *s)
{
	return s->tick_ms * DLK_MS;
}

dlk_time dlki_zk_timeout_ns(const struct zk_session *s)
{
	return s->lease.timeout_ms * DLK_MS;
}

/* A mark is ready for the next stage by a request sent after as long a
 * pause. */
static dlk_time pause_of(const struct zk_session *s, enum zk_stage stage)
{
	switch (stage) {
	case ZK_NOTED:
		return dlki_zk_tick_ns(s) * 3 / 4;
	case ZK_DUE:
		return dlki_zk_tick_ns(s) / 4;
	default:
		return 0;
	}
}

static void add_mark(struct zk_lease *l, enum zk_stage stage, dlk_time sent,
		     dlk_time answered)
{
	struct zk_marks *m = &l->stage[stage];

	if (m->n == ZK_MARKS)
		m->n--; /* the oldest is the next to be ready */
	m->mark[m->n++] = (struct zk_mark){ sent, answered };
}

/* Remove the marks that a request sent at `sent` makes ready.  Returns when the
 * newest of them was sent; 0: no mark was ready. */
static dlk_time take_ready(struct zk_session *s, enum zk_stage stage,
			   dlk_time sent)
{
	struct zk_marks *m = &s->lease.stage[stage];
	dlk_time pause = pause_of(s, stage), newest = 0;
	int n = 0;

	while (n < m->n && m->mark[n].answered + pause <= sent)
		newest = m->mark[n++].sent;
	m->n -= n;
	memmove(m->mark, m->mark + n, (size_t)m->n * sizeof(*m->mark));
	return newest;
}

void dlki_zk_lease_begin(struct zk_session *s, dlk_time asked)
{
	memset(&s->lease, 0, sizeof(s->lease));
	s->lease.heard = asked;
}

void dlki_zk_lease_connected(struct zk_session *s)
{
	struct zk_lease *l = &s->lease;

	memset(l->stage, 0, sizeof(l->stage));
	add_mark(l, ZK_REPORTED, l->heard, 0);
}

static void prove_up_to(struct zk_lease *l, dlk_time sent)
{
	if (sent > l->proved)
		l->proved = sent;
}

/* The leader has taken a request, and said so. */
static void note_passed(struct zk_session *s, dlk_time sent, dlk_time answered)
{
	for (int to = ZK_REPORTED; to > ZK_NOTED; to--) {
		dlk_time mark = take_ready(s, (enum zk_stage)(to - 1), sent);

		if (mark != 0)
			add_mark(&s->lease, (enum zk_stage)to, mark, answered);
	}
}

void dlki_zk_lease_answered(struct zk_session *s, const struct zk_call *call,
			    int passed, int agreed)
{
	struct zk_lease *l = &s->lease;
	dlk_time now = dlk_now();

	if (call->sent > l->heard)
		l->heard = call->sent;
	if (agreed) {
		prove_up_to(l, take_ready(s, ZK_REPORTED, call->sent));
		if (s->probe.standalone)
			prove_up_to(l, call->sent);
	}
	if (passed)
		note_passed(s, call->sent, now);
	if (call->sent - l->marked >= dlki_zk_tick_ns(s) / 8) {
		l->marked = call->sent;
		add_mark(l, ZK_NOTED, call->sent, now);
	}
}

/* ---- How much is left ---------------------------------------------------- */

/* The margin is a twentieth. */
static dlk_time lease_end(const struct zk_session *s)
{
	return s->lease.proved + dlki_zk_timeout_ns(s) / 20 * 19;
}

dlk_time dlki_zk_lease_reported(const struct zk_session *s)
{
	const struct zk_marks *m = &s->lease.stage[ZK_REPORTED];
	dlk_time newest = m->n > 0 ? m->mark[m->n - 1].sent : 0;

	return newest > s->lease.proved ? newest : s->lease.proved;
}

static dlk_time ready_since(const struct zk_session *s, enum zk_stage stage,
			    dlk_time since)
{
	const struct zk_marks *m = &s->lease.stage[stage];

	for (int i = 0; i < m->n; i++) {
		if (m->mark[i].sent >= since)
			return m->mark[i].answered + pause_of(s, stage);
	}
	return DLK_FOREVER;
}

dlk_time dlki_zk_lease_next(const struct zk_session *s, dlk_time since)
{
	dlk_time due = ready_since(s, ZK_DUE, since);

	return due != DLK_FOREVER ? due : ready_since(s, ZK_NOTED, since);
}

/* When a write may prove the newest mark: a tick after the mark's answer. */
static dlk_time next_proof(const struct zk_session *s)
{
	return s->probe.standalone ? 0 : s->lease.marked + dlki_zk_tick_ns(s);
}

int dlki_zk_lease_fresh(const struct zk_session *s, int part)
{
	dlk_time most = dlki_zk_timeout_ns(s) / part;

	if (!s->probe.standalone)
		most += dlki_zk_tick_ns(s) + dlki_zk_tick_ns(s) / 4;
	return s->lease.proved > dlk_now() - most;
}

/* An attempt of many round trips may rest on a write of the last of them. */
void dlki_zk_lease_tell(const struct zk_session *s, struct dlk_ticket *t)
{
	int64_t lease_ms;

	if (t->since < s->lease.proved)
		t->since = s->lease.proved;
	lease_ms = (lease_end(s) - t->since) / DLK_MS;
	if (lease_ms < t->lease_ms)
		t->lease_ms = lease_ms;
	/* The core may be early by a sixtieth. */
	t->renew_from = next_proof(s) + dlki_zk_timeout_ns(s) / 50;
}

/*
 * With less left, a hold could end before even an immediate renewal.  So after
 * a stop of the process: the leader may not have heard from us for as long.  So
 * also behind slow round trips.
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
		 "they answer slowly, or this process was stopped, or cut off, "
		 "for much of the ttl");
	t->settled = 1;
	return 0;
}

int dlki_zk_lease_too_short(const struct zk_session *s, struct dlk_error *err)
{
	long long least_ms = LEAST_TICKS * (long long)s->tick_ms;

	if (!s->probe.known || s->probe.standalone ||
	    s->lease.timeout_ms >= least_ms)
		return 0;
	dlk_fail(err, DLOCK_EINVAL,
		 "sessions of %lld ms are too short for an ensemble with a "
		 "tick of %lld ms: give ttl=%lldms or more%s",
		 (long long)s->lease.timeout_ms, (long long)s->tick_ms,
		 least_ms,
		 s->tick_told ? "" :
				", or if the servers' tickTime is less, tick=");
	return 1;
}
