/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/traffic.h"

#include <errno.h>

#include "core/base/error.h"
#include "core/loop/links.h"
#include "core/loop/news.h"

static void greet(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;

	l->greets_at = e->now;
	e->protocol->greet(e->store, l, e->now);
	dlki_links_called(e);
	dlki_links_tend(l);
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
	if (l->tag.generation != event->tag.generation || l->cut)
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

static void hand_over(struct dlki_link *l, const char *in, size_t n)
{
	l->heard = l->engine->now;
	take_in(l, in, n);
}

struct dlki_link *dlki_links_lone(const struct dlki_engine *e)
{
	struct dlki_link *lone = NULL;

	for (size_t i = 0; i < e->n_links; i++) {
		struct dlki_link *l = e->links[i];

		if (l->set != DLKI_ANSWERS || l->state == DLKI_LINK_DOWN)
			continue;
		if (lone)
			return NULL;
		lone = l;
	}
	return lone && dlki_link_can_await(lone) ? lone : NULL;
}

void dlki_links_awaited(struct dlki_link *l, size_t n)
{
	if (n > 0)
		hand_over(l, l->engine->in[l->set], n);
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
				hand_over(l, in, n);
			} else if (before != l->state && !l->cut) {
				greet(l);
			}
		}
	}
}

/* With calls in a row the look would be a quarter of all system calls. */
#define IDLE_NS DLK_MS

/* The buffer is of the set. */
static int is_idle(const struct dlki_engine *e, const struct dlki_link *l)
{
	if (e->now - l->heard < IDLE_NS)
		return 0;
	for (size_t i = 0; i < e->n_links; i++) {
		if (e->links[i]->set == l->set && e->links[i]->reading)
			return 0;
	}
	return !l->writing && !dlki_flight_at(&l->flight, l->flight.first);
}

void dlki_links_look(struct dlki_engine *e)
{
	struct dlki_link *l = e->n_links > 0 ? e->links[0] : NULL;
	size_t left = DLKI_INPUT;
	size_t n;

	if (!l || !dlki_is_up(l) || !is_idle(e, l))
		return;
	n = dlki_link_read(l, NULL, e->in[l->set], &left);
	if (n > 0)
		take_in(l, e->in[l->set], n);
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
	for (size_t i = 0; i < e->n_links; i++) {
		if (dlki_link_can_write(e->links[i]))
			dlki_link_write(e->links[i], &e->mu);
	}
}

/* A thread that reads from the link looks at the silence behind the read. */
static int has_doubt(const struct dlki_link *l, unsigned int sets)
{
	return l->doubted && !l->reading && (!sets || sets & DLKI_BIT(l->set));
}

int dlki_links_have_work(const struct dlki_engine *e, unsigned int sets)
{
	for (size_t i = 0; i < e->n_links; i++) {
		const struct dlki_link *l = e->links[i];

		if (dlki_links_can_close(l) || can_read(l, sets) ||
		    dlki_link_can_write(l) || has_doubt(l, sets))
			return 1;
	}
	return 0;
}
