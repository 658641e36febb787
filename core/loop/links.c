/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void tend(struct dlki_link *l)
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

/* A connection that stood a while is made again at once.  A server that closes
 * each connection is not connected to more and more often. */
static void plan_retry(struct dlki_link *l, int was_up)
{
	const struct dlki_engine *e = l->engine;
	int was_good = was_up && e->now - l->began >= GOOD_NS;

	if (was_good)
		l->backoff.last_ns = l->backoff.min_ns;
	l->retry_at = e->now;
	if (dlki_server_down(l, was_up) || (was_up && !was_good))
		l->retry_at += dlki_backoff_next(&l->backoff);
	if (l->set == DLKI_NEWS)
		dlki_news_unheard(l->engine, l->why.text);
}

/* This process or host is short of something; or this user may not use the unix
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
	rc = dlki_link_connect(l, &l->met.at);
	if (rc != 0)
		connect_failed(l, -rc);
}

/* Ops that were sent end; unsent ops go back to the queue, in their order. */
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

static void close_link(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;
	int was_up = l->state == DLKI_LINK_UP;
	char why[sizeof(l->why.text)];

	snprintf(why, sizeof(why), "%s", l->why.text);
	explain(l, why, l->why.code);
	end_flight(l);
	dlki_link_close(l);
	e->protocol->lost(e->store, l, e->now);
	dlki_links_called(e);
	plan_retry(l, was_up);
	tend(l);
}

static int can_close(const struct dlki_link *l)
{
	return l->cut && !l->reading && !l->writing;
}

void dlki_links_close_cut(struct dlki_engine *e)
{
	for (size_t i = 0; i < e->n_links; i++) {
		if (can_close(e->links[i]))
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
	struct dlki_link *l =
		(struct dlki_link *)((char *)a -
				     offsetof(struct dlki_link, alarm));

	if (now >= link_due(l)) {
		if (l->state == DLKI_LINK_DOWN)
			connect_link(l);
		else
			dlki_link_cut(l, DLOCK_EUNREACHABLE, late(l));
	}
	tend(l);
}

/* ---- Events -------------------------------------------------------------- */

static void greet(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;

	e->protocol->greet(e->store, l, e->now);
	dlki_links_called(e);
	tend(l);
}

/* The server's name in the URI, unless the URI names several servers. */
static const char *host_of(const struct dlki_engine *e)
{
	const struct dlk_uri *uri = e->store->uri;

	return uri && uri->n_hosts == 1 ? uri->hosts[0].name : NULL;
}

static void connected(struct dlki_link *l)
{
	const struct dlki_engine *e = l->engine;
	int rc = dlki_link_finish(l);
	char peer[DLKI_PEER];

	if (rc == -EINPROGRESS)
		return;
	if (rc != 0) {
		l->met.refused_by = -rc;
		dlki_link_cut(l, DLOCK_EUNREACHABLE, dlki_errno_text(-rc));
		return;
	}
	if (!e->tls) {
		greet(l);
		return;
	}
	dlki_peer(l, peer);
	dlki_link_secure(l, e->tls, host_of(e), peer);
}

void dlki_links_event(struct dlki_engine *e, const struct dlki_event *event)
{
	struct dlki_link *l;

	if (event->tag.place >= e->n_links)
		return;
	l = e->links[event->tag.place];
	if (l->tag.generation != event->tag.generation ||
	    l->state == DLKI_LINK_DOWN || l->cut)
		return;
	if (event->bits & DLKI_WRITABLE) {
		if (l->state == DLKI_LINK_CONNECTING)
			connected(l);
		if (l->blocked) {
			l->blocked = 0;
			l->world->type->want(l->world, l->sock, 0);
		}
	}
	if (event->bits & (DLKI_READABLE | DLKI_ENDED))
		l->readable = 1;
	if (event->bits & DLKI_ENDED)
		l->ended = 1;
}

static int can_read(const struct dlki_link *l, unsigned int sets)
{
	return l->readable && !l->cut && (sets & DLKI_BIT(l->set)) &&
	       l->state >= DLKI_LINK_SECURING;
}

static void take_in(struct dlki_link *l, const char *bytes, size_t n)
{
	struct dlki_engine *e = l->engine;
	struct dlk_error err = { 0 };
	size_t told = e->n_told;

	if (l->cut)
		return;
	if (e->protocol->input(e->store, l, bytes, n, e->now, &err) != 0)
		dlki_link_cut(l, err.code, err.text);
	if (l->state != DLKI_LINK_UP)
		dlki_news_drop(e, told);
	dlki_links_called(e);
}

void dlki_links_read(struct dlki_engine *e, unsigned int sets)
{
	for (size_t i = 0; i < e->n_links; i++) {
		struct dlki_link *l = e->links[i];
		size_t left = DLKI_INPUT;

		while (left > 0 && can_read(l, sets)) {
			enum dlki_link_state before = l->state;
			char *in = e->in[l->set];
			size_t n = dlki_link_read(l, &e->mu, in, &left);

			if (n > 0) {
				l->heard = e->now;
				take_in(l, in, n);
			} else if (before != l->state && !l->cut) {
				greet(l);
			}
		}
	}
}

void dlki_links_cut_silent(struct dlki_engine *e, unsigned int sets)
{
	for (size_t i = 0; i < e->n_links; i++) {
		if (sets & DLKI_BIT(e->links[i]->set))
			dlki_link_cut_silent(e->links[i]);
	}
}

void dlki_links_write(struct dlki_engine *e)
{
	for (size_t i = 0; i < e->n_links; i++)
		dlki_link_write(e->links[i], &e->mu);
}

int dlki_links_have_work(const struct dlki_engine *e, unsigned int sets)
{
	for (size_t i = 0; i < e->n_links; i++) {
		const struct dlki_link *l = e->links[i];

		if (can_close(l) || can_read(l, sets) ||
		    dlki_link_can_write(l) ||
		    (l->doubted && (!sets || sets & DLKI_BIT(l->set))))
			return 1;
	}
	return 0;
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
	tend(l);
}

int dlki_engine_hurry(struct dlki_engine *e)
{
	int is_under_way = e->n_links > 0 &&
			   (e->links[0]->state == DLKI_LINK_CONNECTING ||
			    e->links[0]->state == DLKI_LINK_GREETING);

	for (size_t i = 0; i < e->n_links; i++) {
		struct dlki_link *l = e->links[i];

		if (l->state != DLKI_LINK_DOWN || l->retry_at <= e->now)
			continue;
		l->retry_at = e->now;
		tend(l);
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
	l->heard = e->now;
	l->doubted = 0;
	tend(l);
	if (l == e->links[0])
		dlki_server_up(e);
}

void dlki_refused(struct dlki_link *l, const struct dlk_error *err)
{
	if (l == l->engine->links[0])
		dlki_server_refuse(l->engine, err);
	dlki_link_cut(l, err->code, err->text);
}

void dlki_agree(struct dlki_store *s, const struct dlki_terms *terms)
{
	s->engine->terms = *terms;
}
