/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/loop/news.h"
#include "core/loop/ops.h"
#include "core/net/address.h"

/* While there are earlier addresses, a look-up is waited for this long, or a
 * quarter of the time to connect. */
#define PATIENCE_NS (250 * DLK_MS)

static int is_main(const struct dlki_link *l)
{
	return l == l->engine->links[0];
}

/* The link is down: the alarm is for the next step. */
static void step_at(struct dlki_link *l, dlk_time at)
{
	l->retry_at = at;
	dlki_alarm_set(&l->engine->alarms, &l->alarm,
		       l->wanted ? at : DLK_FOREVER);
}

static void tell_warning(struct dlki_engine *e)
{
	if (e->endpoint.warning[0])
		dlki_warn(e->store, e->endpoint.warning);
	e->endpoint.warning[0] = '\0';
}

void dlki_server_refuse(struct dlki_engine *e, const struct dlk_error *err)
{
	if (!e->endpoint.home[0] && !e->refused) {
		e->refused = malloc(sizeof(*e->refused));
		if (e->refused)
			*e->refused = *err;
	}
	for (size_t i = 0; e->refused && i < e->n_links; i++)
		e->links[i]->wanted = 0;
	dlki_ops_fail_queue(e, err);
}

/* Was all in vain?  Then the reason is told, and a pause is due. */
static int is_over(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;
	const struct dlk_error *why = &e->endpoint.why;

	tell_warning(e);
	if (e->endpoint.phase != DLKI_OVER)
		return 0;
	l->why = *why;
	dlki_news_down(e);
	if (why->code == DLOCK_EINVAL || why->code == DLOCK_EDENIED)
		dlki_server_refuse(e, why);
	return 1;
}

/* ---- Down ---------------------------------------------------------------- */

int dlki_server_down(struct dlki_link *l, int was_up)
{
	struct dlki_endpoint *p = &l->engine->endpoint;

	if (!is_main(l))
		return !was_up;
	if (was_up)
		dlki_endpoint_lost(p);
	else if (!l->met.is_judged)
		dlki_endpoint_missed(p, &l->met, &l->why);
	return is_over(l);
}

dlk_time dlki_server_share(const struct dlki_link *l)
{
	const struct dlki_engine *e = l->engine;
	dlk_time all = e->connect_ns;

	if (e->endpoint.home[0] && e->patience_ns < all)
		all = e->patience_ns;
	return is_main(l) ? all / dlki_endpoint_shares(&e->endpoint) : all;
}

/* ---- The name ------------------------------------------------------------ */

static void look_up(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;
	dlk_time patience = e->connect_ns;

	if (e->endpoint.n > 0)
		patience = patience / 4 < PATIENCE_NS ? patience / 4 :
							PATIENCE_NS;
	e->look_until = l->retry_at = e->now + patience;
	if (!e->lookup.world)
		dlki_lookup_begin(&e->lookup, e->world, e->endpoint.host,
				  e->endpoint.port);
	dlki_server_look(e);
}

void dlki_server_look(struct dlki_engine *e)
{
	struct dlki_link *l = e->links[0];
	struct dlki_found found;
	int is_awaited = e->endpoint.phase == DLKI_LOOKING;

	if (!dlki_lookup_take(&e->lookup, &found))
		return;
	dlki_endpoint_found(&e->endpoint, &found);
	if (is_awaited)
		step_at(l, is_over(l) ?
				   e->now + dlki_backoff_next(&l->backoff) :
				   e->now);
}

/* ---- The next step ------------------------------------------------------- */

/* The look-up has no answer yet.  Returns whether the main link waits. */
static int is_waiting(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;

	l->retry_at = e->look_until;
	if (e->now < e->look_until)
		return 1;
	dlki_endpoint_late(&e->endpoint);
	if (!is_over(l))
		return 0;
	l->retry_at = e->now + dlki_backoff_next(&l->backoff);
	return 1;
}

static int next_of_main(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;

	if (e->endpoint.phase == DLKI_LOOKING && is_waiting(l))
		return 0;
	if (dlki_endpoint_next(&e->endpoint, &l->met.at) == DLKI_CONNECT)
		return 1;
	look_up(l);
	return 0;
}

int dlki_server_next(struct dlki_link *l)
{
	const struct dlki_engine *e = l->engine;

	memset(&l->met, 0, sizeof(l->met));
	if (is_main(l))
		return next_of_main(l);
	if (!dlki_is_up(e->links[0])) {
		l->retry_at = DLK_FOREVER; /* dlki_server_up() */
		return 0;
	}
	l->met.at = e->endpoint.home_at;
	return 1;
}

/* ---- The server ---------------------------------------------------------- */

static const char taken_over[] = "another server took over meanwhile";

static int main_met(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;
	enum dlki_verdict verdict = dlki_endpoint_met(&e->endpoint, &l->met);

	tell_warning(e);
	if (verdict == DLKI_GO_ON) {
		dlki_link_cut(l, DLOCK_EUNREACHABLE,
			      "the other addresses are not known yet");
		return 0;
	}
	if (verdict == DLKI_MOVED) {
		dlki_news_moved(e);
		for (size_t i = 1; i < e->n_links; i++)
			dlki_link_cut(e->links[i], DLOCK_EUNREACHABLE,
				      taken_over);
	}
	return 1;
}

int dlki_server_met(struct dlki_link *l)
{
	struct dlki_engine *e = l->engine;

	if (is_main(l))
		return main_met(l);
	if (dlki_endpoint_is_home(&e->endpoint, &l->met))
		return 1;
	/* Home's address has another server: the main link must look. */
	dlki_link_cut(l, DLOCK_EUNREACHABLE, taken_over);
	if (dlki_is_up(e->links[0]))
		dlki_link_cut(e->links[0], DLOCK_EUNREACHABLE, taken_over);
	return 0;
}

void dlki_server_up(struct dlki_engine *e)
{
	dlki_news_up(e);
	for (size_t i = 1; i < e->n_links; i++) {
		struct dlki_link *l = e->links[i];

		if (l->state == DLKI_LINK_DOWN && l->retry_at == DLK_FOREVER)
			step_at(l, e->now);
	}
}

/* ---- The protocol's side ------------------------------------------------- */

int dlki_is_up(const struct dlki_link *l)
{
	return l->state == DLKI_LINK_UP && !l->cut;
}

void dlki_peer(const struct dlki_link *l, char out[DLKI_PEER])
{
	dlki_endpoint_text(&l->engine->endpoint, &l->met.at, out);
}

int dlki_peer_fail(const struct dlki_link *l, struct dlk_error *err, int code,
		   const char *fmt)
{
	char peer[DLKI_PEER];

	dlki_peer(l, peer);
	return dlk_fail(err, code, fmt, peer);
}

void dlki_identity(struct dlki_link *l, const char *identity)
{
	snprintf(l->met.identity, sizeof(l->met.identity), "%s", identity);
}

int dlki_is_at_home(const struct dlki_link *l)
{
	const struct dlki_endpoint *p = &l->engine->endpoint;

	return p->home[0] && dlki_address_is_same(&p->home_at, &l->met.at);
}

void dlki_demoted(struct dlki_link *l)
{
	if (dlki_is_up(l))
		dlki_endpoint_leave(&l->engine->endpoint, l->met.epoch);
}
