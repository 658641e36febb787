/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/probe.h"
#include "backends/zk/call.h"
#include "backends/zk/lease.h"
#include "backends/zk/session.h"

#define AGAIN_NS (100 * DLK_MS)

/* The server's own node: the list of the ensemble's servers, empty on a
 * standalone server. */
#define CONFIG "/zookeeper/config"

void dlki_zk_probe_begin(struct zk_session *s)
{
	s->probe = (struct zk_probe){ 0 };
}

void dlki_zk_probe_connected(struct zk_session *s)
{
	s->probe = (struct zk_probe){ .asked_at = dlk_now() };
}

/* Without the right to read the node, assume an ensemble.  A busy server may
 * have turned the request away: ask again. */
static void on_config(struct zk_session *s, struct zk_call *config)
{
	if (config->rc != ZOK && config->rc != ZNOAUTH && config->rc != ZNONODE)
		return;
	s->probe.known = 1;
	s->probe.standalone = config->rc == ZOK && config->stat.dataLength == 0;
}

void dlki_zk_probe_kind(struct zk_session *s)
{
	struct zk_call *config = dlki_zk_get(s, CONFIG);

	s->probe.asked_at = dlk_now();
	if (config)
		config->then = on_config;
	dlki_zk_drop(&config, 1);
}

/* A round takes a tick, and three round trips. */
static void want_round(struct zk_session *s, dlk_time renewal)
{
	dlk_time took = s->probe.took;

	if (took < dlki_zk_tick_ns(s))
		took = dlki_zk_tick_ns(s);
	s->probe.wanted_at = renewal - dlki_zk_timeout_ns(s) / 50 - took -
			     dlki_zk_tick_ns(s) / 4;
}

/* dlock-loop sees this before it sets the node watch. */
void dlki_zk_probe_granted(struct zk_session *s, const struct dlk_ticket *t)
{
	if (s->probe.wanted_at == 0)
		want_round(s, t->since + t->lease_ms * DLK_MS / 3);
}

void dlki_zk_probe_renewed(struct zk_session *s)
{
	want_round(s, dlk_now() + dlki_zk_timeout_ns(s) / 3);
	dlki_zk_timer_now(s);
}

/* The pause is shorter than the client library's, which pings after a third of
 * the time-out without a request, and shorter still if the time-out has few
 * ticks. */
static dlk_time probe_pause(const struct zk_session *s)
{
	dlk_time most = dlki_zk_timeout_ns(s) * 3 / 10;
	dlk_time pause = (dlki_zk_timeout_ns(s) - 2 * dlki_zk_tick_ns(s)) * 2 /
			 5;

	return pause < most ? pause : most;
}

static void on_answer(struct zk_session *s, struct zk_call *call)
{
	(void)call;
	s->probe.asking = 0;
	dlki_zk_timer_now(s);
}

static void ask(struct zk_session *s, struct zk_call *call)
{
	if (call) {
		call->then = on_answer;
		s->probe.asking = !call->done;
	}
	s->probe.asked_at = dlk_now();
	dlki_zk_drop(&call, 1);
}

/* Requests of the program may have come in place of ours.  Returns when the
 * next request is due. */
static dlk_time go_on(struct zk_session *s)
{
	struct zk_probe *p = &s->probe;
	dlk_time since = p->round - dlki_zk_tick_ns(s) / 8;
	dlk_time due = dlki_zk_lease_next(s, since);

	if (dlki_zk_lease_reported(s) >= since) {
		p->took = dlk_now() - p->round;
		p->round = 0;
		return dlk_now();
	}
	if (due == DLK_FOREVER) { /* the read was turned away */
		p->round = 0;
		return dlk_now();
	}
	/* ... or a sync was */
	if (due < p->asked_at + dlki_zk_tick_ns(s) / 4)
		due = p->asked_at + dlki_zk_tick_ns(s) / 4;
	if (due > dlk_now())
		return due;
	ask(s, dlki_zk_sync(s, s->config.base));
	return DLK_FOREVER;
}

static dlk_time begin_round(struct zk_session *s)
{
	struct zk_probe *p = &s->probe;
	dlk_time due = p->wanted_at;

	if (due == 0)
		due = dlki_zk_lease_reported(s) + probe_pause(s);
	if (due < p->asked_at + dlki_zk_tick_ns(s) / 4)
		due = p->asked_at + dlki_zk_tick_ns(s) / 4;
	if (due > dlk_now())
		return due;
	p->wanted_at = 0;
	p->round = dlk_now();
	ask(s, dlki_zk_get(s, s->config.base));
	return DLK_FOREVER;
}

dlk_time dlki_zk_probe(struct zk_session *s)
{
	struct zk_probe *p = &s->probe;

	if (!dlki_zk_is_up(s) || p->asking)
		return DLK_FOREVER;
	if (!p->known) {
		if (dlk_now() >= p->asked_at + AGAIN_NS)
			dlki_zk_probe_kind(s);
		return p->asked_at + AGAIN_NS;
	}
	if (p->standalone || dlki_zk_lease_too_short(s, NULL))
		return DLK_FOREVER;
	return p->round != 0 ? go_on(s) : begin_round(s);
}
