/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/probe.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/lease.h"
#include "backends/zk/session.h"

#define AGAIN_NS (100 * DLK_MS)

/* The server's own node: what the ensemble consists of.  It is empty on a
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

/* If it may not be read, assume an ensemble.  A server that is too busy may
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

static void want_probe(struct zk_session *s, dlk_time renewal)
{
	s->probe.wanted_at = renewal - dlki_zk_timeout_ns(s) / 50 -
			     dlki_zk_tick_ns(s) - dlki_zk_tick_ns(s) / 4;
}

/* The thread sees this when it comes to set the node watch. */
void dlki_zk_probe_granted(struct zk_session *s, const struct dlk_ticket *t)
{
	if (s->probe.wanted_at == 0)
		want_probe(s, t->since + t->lease_ms * DLK_MS / 3);
}

void dlki_zk_probe_renewed(struct zk_session *s)
{
	want_probe(s, dlk_now() + dlki_zk_timeout_ns(s) / 3);
	pthread_cond_signal(&s->thread.work);
}

/* The pause is shorter than the client library's, which pings after a third of
 * the time-out without a request.  It is shorter still where the time-out has
 * few ticks. */
static dlk_time probe_pause(const struct zk_session *s)
{
	dlk_time most = dlki_zk_timeout_ns(s) * 3 / 10;
	dlk_time pause = (dlki_zk_timeout_ns(s) - 2 * dlki_zk_tick_ns(s)) * 2 /
			 5;

	return pause < most ? pause : most;
}

dlk_time dlki_zk_probe(struct zk_session *s)
{
	struct zk_probe *p = &s->probe;
	struct zk_call *call;
	dlk_time last, due;

	if (!s->conn || s->conn->state != ZK_UP)
		return DLK_FOREVER;
	if (!p->known) {
		if (dlk_now() >= p->asked_at + AGAIN_NS)
			dlki_zk_probe_kind(s);
		return p->asked_at + AGAIN_NS;
	}
	if (p->standalone || dlki_zk_lease_too_short(s, NULL))
		return DLK_FOREVER;
	last = dlki_zk_lease_marked(s);
	if (last < p->asked_at)
		last = p->asked_at;
	due = last + probe_pause(s);
	if (p->wanted_at != 0 && p->wanted_at < due)
		due = p->wanted_at;
	if (due > dlk_now())
		return due;
	p->wanted_at = 0;
	p->asked_at = dlk_now();
	call = dlki_zk_get(s, s->config.base);
	dlki_zk_drop(&call, 1);
	return p->asked_at + probe_pause(s);
}
