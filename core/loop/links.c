/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/container.h"
#include "core/base/error.h"
#include "core/loop/news.h"
#include "core/loop/ops.h"
#include "core/loop/server.h"

enum { PAUSE_MIN_MS = 20, PAUSE_MAX_MS = 500 };

/* A connection of such an age was good. */
#define GOOD_NS (1000 * DLK_MS)

void dlki_links_called(struct dlki_engine *e)
{
	dlki_alarm_set(&e->alarms, &e->store_alarm, e->store->due);
}

/* ---- Due times ----------------------------------------------------------- */

static dlk_time answer_due(const struct dlki_link *l)
{
	const struct dlki_slot *front = dlki_flight_at(&l->flight,
						       l->flight.first);
	const struct dlki_engine *e = l->engine;

	if (!front)
		return DLK_FOREVER;
	if (front->since != 0)
		return front->since + e->patience_ns;
	return (l->blocked ? l->blocked_at : e->now) + e->patience_ns;
}

static dlk_time link_due(const struct dlki_link *l)
{
	if (l->cut)
		return DLK_FOREVER; /* the turn closes it */
	switch (l->state) {
	case DLKI_LINK_DOWN:
		return l->wanted ? l->retry_at : DLK_FOREVER;
	case DLKI_LINK_CONNECTING:
	case DLKI_LINK_SECURING:
	case DLKI_LINK_GREETING:
		return l->began + dlki_server_share(l);
	default:
		return answer_due(l);
	}
}

void dlki_links_tend(struct dlki_link *l)
{
	dlki_alarm_set(&l->engine->alarms, &l->alarm, link_due(l));
}

/* ---- Down ---------------------------------------------------------------- */

/* The reason names the server. */
static void explain(struct dlki_link *l, const char *why, int code)
{
	char peer[DLKI_PEER];

	dlki_peer(l, peer);
	if (strncmp(why, peer, strlen(peer)) != 0)
		dlk_fail(&l->why, code, "%s: %s", peer, why);
}

/* A connection that stood a while is made again at once.  The engine connects
 * no faster to a server that closes each connection. */
static void plan_retry(struct dlki_link *l, int was_up)
{
	const struct dlki_engine *e = l->engine;
	int was_good = was_up && e->now - l->began >= GOOD_NS;

	if (was_good)
		l->backoff.last_ns = PAUSE_MIN_MS * DLK_MS;
	l->retry_at = e->now;
	if (dlki_server_down(l, was_up) || (was_up && !was_good))
		l->retry_at += dlki_backoff_next(&l->backoff);
	if (l->set == DLKI_NEWS)
		dlki_news_unheard(l->engine, l->why.text);
}

/* This process or host lacks a resource; or this user may not use the unix
 * socket. */
static int is_ours(const struct dlki_link *l, int errnum)
{
	switch (errnum) {
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case ENOSPC:
		return 1;
	case EACCES:
	case EPERM:
		return l->met.at.to.any.sa_family == AF_UNIX;
	default:
		return 0;
	}
}

static void connect_failed(struct dlki_link *l, int errnum)
{
	char peer[DLKI_PEER];

	l->met.refused_by = errnum;
	if (is_ours(l, errnum)) {
		dlki_peer(l, peer);
		dlki_system(&l->why, errnum, peer);
	} else {
		explain(l, dlki_errno_text(errnum), DLOCK_EUNREACHABLE);
	}
	plan_retry(l, 0);
}

static void connect_link(struct dlki_link *l)
{
	int rc;

	if (!dlki_server_next(l))
		return;
	l->began = l->engine->now;
	if (l == l->engine->links[0])
		l->engine->tries++;
	rc = dlki_link_connect(l, &l->met.at);
	if (rc != 0)
		connect_failed(l, -rc);
}

/* Sent ops end; unsent ops go back to the queue, in order. */
static void end_flight(const struct dlki_link *l)
{
	const struct dlki_flight *f = &l->flight;

	for (uint64_t i = f->first; i != f->end; i++) {
		const struct dlki_slot *slot = dlki_flight_at(f, i);

		if (slot->op && dlki_link_was_sent(l, slot))
			dlki_ops_end(slot->op, DLKI_UNANSWERED,
				     DLKI_RESIDUE_MAYBE);
	}
	for (uint64_t i = f->end; i != f->first; i--) {
		const struct dlki_slot *slot = dlki_flight_at(f, i - 1);

		if (slot->op)
			dlki_ops_requeue(slot->op);
	}
}

/* A hint for people why the connection ended, beside the reason. */
static const char *more_of(const struct dlki_link *l)
{
	const char *more = l->engine->protocol->unheard;
	int unheard = l->state == DLKI_LINK_GREETING && l->hung_up &&
		      l->heard <= l->greets_at;

	return unheard && more ? more : "";
}

static void close_link(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;
	int was_up = l->state == DLKI_LINK_UP;
	char why[2 * sizeof(l->why.text)];

	snprintf(why, sizeof(why), "%s%s", l->why.text, more_of(l));
	explain(l, why, l->why.code);
	end_flight(l);
	if (l == e->links[0])
		dlki_ops_end_begun(e);
	dlki_link_close(l);
	e->protocol->lost(e->store, l, e->now);
	dlki_links_called(e);
	plan_retry(l, was_up);
	dlki_links_tend(l);
}

int dlki_links_can_close(const struct dlki_link *l)
{
	return l->cut && !l->reading && !l->writing;
}

void dlki_links_close_cut(struct dlki_engine *e)
{
	for (size_t i = 0; i < e->n_links; i++) {
		if (dlki_links_can_close(e->links[i]))
			close_link(e->links[i]);
	}
}

static const char *late(const struct dlki_link *l)
{
	if (l->state == DLKI_LINK_SECURING)
		return l->tls->type->stuck(l->tls);
	return l->state == DLKI_LINK_UP ? "no answer in time" :
					  "not connected in time";
}

static void link_rings(struct dlki_alarm *a, dlk_time now)
{
	struct dlki_link *l = DLKI_CONTAINER_OF(a, struct dlki_link, alarm);

	if (now >= link_due(l)) {
		if (l->state == DLKI_LINK_DOWN)
			connect_link(l);
		else
			dlki_link_cut(l, DLOCK_EUNREACHABLE, late(l));
	}
	dlki_links_tend(l);
}

void dlki_links_free(struct dlki_engine *e)
{
	for (size_t i = 0; i < e->n_links; i++) {
		struct dlki_link *l = e->links[i];

		if (l->state != DLKI_LINK_DOWN) {
			end_flight(l);
			dlki_link_close(l);
		}
		dlki_alarm_set(&e->alarms, &l->alarm, DLK_FOREVER);
		dlki_link_free(l);
		free(l);
	}
	e->n_links = 0;
}

/* ---- The protocol's side ------------------------------------------------- */

struct dlki_link *dlki_link_open(struct dlki_store *s, enum dlki_set set)
{
	struct dlki_engine *e = s->engine;
	struct dlki_link *l = NULL;

	if (e->n_links < DLKI_LINKS && dlki_endpoint_is_given(&e->endpoint) &&
	    dlki_alarms_reserve(&e->alarms, 1) == 0)
		l = malloc(sizeof(*l));
	if (!l)
		return NULL;
	dlki_link_init(l, e->world, set, (uint32_t)e->n_links);
	l->engine = e;
	l->alarm.ring = link_rings;
	dlki_backoff_init(&l->backoff, PAUSE_MIN_MS, PAUSE_MAX_MS,
			  e->seed + e->n_links);
	e->links[e->n_links++] = l;
	if (e->n_links == 1)
		dlki_want(l);
	return l;
}

void dlki_want(struct dlki_link *l)
{
	if (l->wanted || l->engine->refused)
		return;
	l->wanted = 1;
	l->retry_at = l->engine->now;
	dlki_links_tend(l);
}

int dlki_engine_hurry(struct dlki_engine *e)
{
	int is_under_way = e->n_links > 0 &&
			   e->links[0]->state != DLKI_LINK_DOWN &&
			   e->links[0]->state != DLKI_LINK_UP;

	for (size_t i = 0; i < e->n_links; i++) {
		struct dlki_link *l = e->links[i];

		if (l->state != DLKI_LINK_DOWN || l->retry_at <= e->now)
			continue;
		l->retry_at = e->now;
		dlki_links_tend(l);
	}
	return is_under_way;
}

void dlki_up(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;

	if (l->state != DLKI_LINK_GREETING || l->cut || !dlki_server_met(l))
		return;
	l->state = DLKI_LINK_UP;
	l->took = e->now - l->began;
	l->way = e->now - l->greets_at;
	l->heard = e->now;
	l->doubted = 0;
	dlki_links_tend(l);
	if (l == e->links[0])
		dlki_server_up(e);
}

void dlki_refused(struct dlki_link *l, const struct dlk_error *err)
{
	if (l == l->engine->links[0])
		dlki_server_refuse(l->engine, err);
	dlki_link_cut(l, err->code, err->text);
}

void dlki_agree(struct dlki_store *s, const struct dlki_agreed *agreed)
{
	s->engine->agreed = *agreed;
}
