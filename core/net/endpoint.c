/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

/* ---- Where --------------------------------------------------------------- */

static int take_path(struct dlki_endpoint *p, const char *path,
		     struct dlk_error *err)
{
	p->n = 1;
	snprintf(p->who, sizeof(p->who), "%.110s", path);
	return dlki_address_unix(&p->list[0], path, err);
}

static int take_host(struct dlki_endpoint *p, const struct dlki_place *place,
		     struct dlk_error *err)
{
	dlki_address_text_of(place->host, place->port, p->who);
	p->port = place->port;
	if (dlki_lookup_literal(place->host, place->port, &p->list[0]) == 0) {
		p->n = 1;
		return 0;
	}
	p->host = strdup(place->host);
	return p->host ? 0 : dlki_nomem(err);
}

static int take_addresses(struct dlki_endpoint *p,
			  const struct dlki_place *place, struct dlk_error *err)
{
	if (place->n_addresses > DLKI_ADDRESSES)
		return dlk_fail(err, DLOCK_EINVAL, "%zu addresses, not %d",
				place->n_addresses, DLKI_ADDRESSES);
	p->n = place->n_addresses;
	for (size_t i = 0; i < p->n; i++)
		p->list[i] = place->addresses[i];
	if (p->n > 0)
		dlki_address_text(&p->list[0], p->who);
	return 0;
}

/* Is there a single address where home can be? */
static int has_one_place(const struct dlki_endpoint *p)
{
	return !p->host && p->n == 1;
}

int dlki_endpoint_is_given(const struct dlki_endpoint *p)
{
	return p->host || p->n > 0;
}

/* ---- Phases -------------------------------------------------------------- */

static void look_elsewhere(struct dlki_endpoint *p)
{
	p->phase = p->host ? DLKI_NAMED : DLKI_SURVEY;
	p->at = 0;
	p->met.is_judged = 0;
	p->other[0] = p->silent[0] = p->refusing[0] = p->no_way[0] = '\0';
	p->why.code = 0;
}

static void begin(struct dlki_endpoint *p)
{
	look_elsewhere(p);
	if (p->home[0] && (!p->left || has_one_place(p)))
		p->phase = DLKI_AT_HOME;
}

static void give_up(struct dlki_endpoint *p, const struct dlk_error *why)
{
	p->why = *why;
	p->phase = DLKI_OVER;
}

int dlki_endpoint_init(struct dlki_endpoint *p, const struct dlki_place *place,
		       const char *told_by, struct dlk_error *err)
{
	int rc;

	memset(p, 0, sizeof(*p));
	p->told_by = told_by;
	if (place->path)
		rc = take_path(p, place->path, err);
	else if (place->host)
		rc = take_host(p, place, err);
	else
		rc = take_addresses(p, place, err);
	begin(p);
	return rc;
}

void dlki_endpoint_free(struct dlki_endpoint *p)
{
	free(p->host);
	p->host = NULL;
}

enum dlki_step dlki_endpoint_next(struct dlki_endpoint *p,
				  struct dlki_address *to)
{
	if (p->phase == DLKI_OVER)
		begin(p);
	switch (p->phase) {
	case DLKI_AT_HOME:
		*to = p->home_at;
		return DLKI_CONNECT;
	case DLKI_SURVEY:
		*to = p->list[p->at];
		return DLKI_CONNECT;
	case DLKI_CHOSEN:
		*to = p->met.at;
		return DLKI_CONNECT;
	default:
		p->phase = DLKI_LOOKING;
		return DLKI_LOOK_UP;
	}
}

int dlki_endpoint_shares(const struct dlki_endpoint *p)
{
	if (p->phase == DLKI_SURVEY)
		return (int)p->n;
	return p->phase == DLKI_AT_HOME && !has_one_place(p) ? 2 : 1;
}

/* ---- The name ------------------------------------------------------------ */

static int take_list(struct dlki_endpoint *p, const struct dlki_found *found,
		     struct dlk_error *err)
{
	int rc = dlki_answer_judge(found, p->host, err);

	if (rc != 0)
		return rc;
	memcpy(p->list, found->v, found->n * sizeof(p->list[0]));
	p->n = found->n;
	return 0;
}

void dlki_endpoint_found(struct dlki_endpoint *p,
			 const struct dlki_found *found)
{
	struct dlk_error why;

	/* A late answer is for the next time, unless the list is in use. */
	if (p->phase != DLKI_LOOKING) {
		if (p->phase != DLKI_SURVEY)
			(void)take_list(p, found, &why);
		return;
	}
	if (take_list(p, found, &why) == 0 ||
	    (dlki_answer_is_away(found->rc) && p->n > 0))
		p->phase = DLKI_SURVEY;
	else
		give_up(p, &why);
}

void dlki_endpoint_late(struct dlki_endpoint *p)
{
	struct dlk_error why;

	if (p->n > 0) {
		p->phase = DLKI_SURVEY;
		return;
	}
	dlk_fail(&why, DLOCK_EUNREACHABLE,
		 "%s: the name was not resolved in time", p->host);
	give_up(p, &why);
}

/* ---- Connections --------------------------------------------------------- */

/* Go on, after the survey is through with an address, and the main link is
 * down. */
static void survey_on(struct dlki_endpoint *p)
{
	struct dlk_error why;

	if (++p->at < p->n)
		return;
	if (dlki_seen_judge(p, &why) != 0)
		give_up(p, &why);
	else
		p->phase = DLKI_CHOSEN;
}

void dlki_endpoint_missed(struct dlki_endpoint *p, const struct dlki_met *m,
			  const struct dlk_error *why)
{
	if (why->code != DLOCK_EUNREACHABLE || p->phase == DLKI_CHOSEN ||
	    has_one_place(p)) {
		give_up(p, why);
	} else if (p->phase == DLKI_SURVEY) {
		dlki_seen_missed(p, m, why);
		survey_on(p);
	} else {
		look_elsewhere(p);
	}
}

static enum dlki_verdict adopt(struct dlki_endpoint *p, struct dlki_met *m)
{
	int moves = p->home[0] && strcmp(p->home, m->identity) != 0;

	memcpy(p->home, m->identity, sizeof(p->home));
	p->home_at = m->at;
	p->left = 0;
	p->epoch += (uint64_t)moves;
	p->phase = DLKI_AT_HOME;
	m->epoch = p->epoch;
	return moves ? DLKI_MOVED : DLKI_STAY;
}

/* A server without an identity is known by the address. */
static void identify(struct dlki_met *m)
{
	char text[DLKI_ADDRESS_TEXT];

	if (m->identity[0])
		return;
	dlki_address_text(&m->at, text);
	snprintf(m->identity, sizeof(m->identity), "at %s", text);
}

/* The last address of a survey needs no second connection. */
static enum dlki_verdict survey_met(struct dlki_endpoint *p, struct dlki_met *m)
{
	int is_last = p->at + 1 == p->n;

	dlki_seen_met(p, m);
	survey_on(p);
	if (is_last && p->phase == DLKI_CHOSEN)
		return adopt(p, m);
	return DLKI_GO_ON;
}

enum dlki_verdict dlki_endpoint_met(struct dlki_endpoint *p, struct dlki_met *m)
{
	struct dlk_error why;

	identify(m);
	m->is_judged = 1;
	if (has_one_place(p) || strcmp(p->home, m->identity) == 0)
		return adopt(p, m);
	if (p->phase == DLKI_SURVEY)
		return survey_met(p, m);
	if (p->phase != DLKI_CHOSEN) {
		look_elsewhere(p);
		return DLKI_GO_ON;
	}
	if (strcmp(p->met.identity, m->identity) == 0)
		return adopt(p, m);
	dlk_fail(&why, DLOCK_EUNREACHABLE,
		 "%s: it became another server meanwhile", p->who);
	give_up(p, &why);
	return DLKI_GO_ON;
}

void dlki_endpoint_lost(struct dlki_endpoint *p)
{
	begin(p);
}

int dlki_endpoint_is_home(const struct dlki_endpoint *p, struct dlki_met *m)
{
	identify(m);
	m->is_judged = 1;
	m->epoch = p->epoch;
	return strcmp(p->home, m->identity) == 0;
}

void dlki_endpoint_leave(struct dlki_endpoint *p, uint64_t epoch)
{
	if (p->epoch == epoch)
		p->left = 1;
}

void dlki_endpoint_text(const struct dlki_endpoint *p,
			const struct dlki_address *at,
			char out[DLKI_ENDPOINT_TEXT])
{
	char text[DLKI_ADDRESS_TEXT];

	dlki_address_text(at, text);
	if (p->n <= 1 || at->len == 0)
		snprintf(out, DLKI_ENDPOINT_TEXT, "%s", p->who);
	else if (p->host)
		snprintf(out, DLKI_ENDPOINT_TEXT, "%.80s (%.80s)", p->who,
			 text);
	else
		snprintf(out, DLKI_ENDPOINT_TEXT, "%s", text);
}
