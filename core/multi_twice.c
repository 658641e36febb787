/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi_twice.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/claim.h"
#include "core/guard.h"
#include "core/holder.h"
#include "core/multi.h"

#define ENOUGH 3 /* tries with the same finding */

struct search {
	const struct dlki_multi_hold *m;
	const struct dlki_record *busy;
	const struct dlki_claim *found;
};

static int same_name(const struct dlki_record *a, const struct dlki_record *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

/* A store may keep the beginning of a label only. */
static int is_claim(const struct dlock_participant *p,
		    const struct dlki_claim *claim)
{
	return p->token == claim->token && p->label &&
	       strncmp(p->label, claim->ticket->request.label,
		       strlen(p->label)) == 0;
}

static void note_holder(const struct dlock_participant *p, void *arg)
{
	struct search *s = arg;

	for (size_t i = 0; i < s->m->n && !p->waiting; i++) {
		const struct dlki_claim *claim =
			dlki_hold_claim(s->m->member[i].hold);

		if (same_name(claim->record, s->busy) && is_claim(p, claim))
			s->found = claim;
	}
}

static int holds_the_name(const struct dlki_multi_hold *m,
			  const struct dlki_record *r)
{
	for (size_t i = 0; i < m->n; i++) {
		if (same_name(dlki_hold_claim(m->member[i].hold)->record, r))
			return 1;
	}
	return 0;
}

/* Ask for the holders: 0 with an answer. */
static int ask_store(struct dlki_record *r, struct search *s)
{
	struct dlock_client *c = r->client;
	int rc = dlki_client_begin(c, NULL);

	if (rc != 0)
		return rc;
	rc = dlki_holder_ask(r, note_holder, s,
			     dlki_after_ms(dlk_now(), dlki_ask_ms(&c->ask)));
	dlki_client_end(c);
	return rc;
}

int dlki_multi_twice(struct dlki_multi_twice *twice,
		     const struct dlki_multi_hold *m, struct dlki_member *busy,
		     struct dlk_error *err)
{
	struct dlki_record *r = busy->lock->record;
	struct search s = { .m = m, .busy = r };

	if (!holds_the_name(m, r) || atomic_load(&busy->told_apart) ||
	    !(r->client->session->caps & DLOCK_CAP_INSPECT))
		return 0;
	if (ask_store(r, &s) == 0 && !s.found)
		atomic_store(&busy->told_apart, 1);
	if (!s.found || s.found->token == twice->token)
		return 0;
	twice->token = s.found->token;
	if (++twice->seen < ENOUGH)
		return 0;
	dlk_fail(err, DLOCK_EINVAL,
		 "%s '%s' is a member twice: %s and %s are one store",
		 dlki_kind_name(r->kind), r->name, s.found->client->uri->shown,
		 r->client->uri->shown);
	return 1;
}
