/* SPDX-License-Identifier: Apache-2.0 */
#include "core/holder.h"

#include <stdio.h>

#include "core/base/process.h"
#include "core/claim.h"
#include "core/store.h"

#define PAUSE_NS (100 * DLK_MS)
#define SHOWN 100 /* bytes of a name and of a label in a message */

struct holders {
	size_t n;
	uint64_t but;          /* the token of a holder to leave out, or 0 */
	char label[SHOWN + 1]; /* of the first */
};

static void note_holder(const struct dlock_participant *p, void *arg)
{
	struct holders *all = arg;

	if (p->waiting || !p->label || !p->label[0] ||
	    (all->but != 0 && p->token == all->but))
		return;
	if (all->n++ == 0)
		snprintf(all->label, sizeof(all->label), "%.*s",
			 (int)dlk_utf8_clip(p->label, SHOWN), p->label);
}

static int may_ask(struct dlki_record *r, dlk_time limit)
{
	struct dlock_client *c = r->client;
	dlk_time now = dlk_now();
	int may;

	if (!(c->session->caps & DLOCK_CAP_INSPECT) || now >= limit)
		return 0;
	pthread_mutex_lock(&c->mu);
	may = !c->closing && now >= c->holder_asked + PAUSE_NS;
	if (may)
		c->holder_asked = now;
	pthread_mutex_unlock(&c->mu);
	return may;
}

int dlki_holder_ask(struct dlki_record *r,
		    void (*each)(const struct dlock_participant *p, void *arg),
		    void *arg, dlk_time limit)
{
	struct dlk_request request = dlki_record_request(r);
	struct dlock_client *c = r->client;
	struct dlk_error ignored = { 0 };
	int rc;

	request.holders_only = 1;
	DLKI_STORE(c, rc = c->backend->inspect(c->session, &request, each, arg,
					       limit, &ignored));
	return rc;
}

const char *dlki_holder_here(const struct dlki_record *r)
{
	const struct dlki_claim *h;
	const char *who = NULL;

	pthread_mutex_lock(&r->client->mu);
	LIST_FOREACH(h, &r->held, in_list) {
		if (h->state != DLKI_HELD || !dlki_claim_excludes(h))
			continue;
		who = h->thread == DLKI_NO_THREAD ||
				      h->thread == dlki_thread_serial() ?
			      "this process itself" :
			      "another thread of this process";
		break;
	}
	pthread_mutex_unlock(&r->client->mu);
	return who;
}

int dlki_holder_fail(struct dlki_record *r, const struct dlki_claim *beside,
		     dlk_time limit, struct dlk_error *err)
{
	const char *kind = dlki_kind_name(r->kind), *here = dlki_holder_here(r);
	int shown = (int)dlk_utf8_clip(r->name, SHOWN);
	struct holders all = { .but = beside ? beside->token : 0 };

	if (here)
		return dlk_fail(err, DLOCK_EBUSY, "%s '%.*s': held by %s", kind,
				shown, r->name, here);
	if (may_ask(r, limit) &&
	    dlki_holder_ask(r, note_holder, &all, limit) != 0)
		all.n = 0;
	if (all.n == 0)
		return dlk_fail(err, DLOCK_EBUSY,
				"%s '%.*s': held by others until the deadline",
				kind, shown, r->name);
	if (all.n == 1)
		return dlk_fail(err, DLOCK_EBUSY, "%s '%.*s': held by %s", kind,
				shown, r->name, all.label);
	return dlk_fail(err, DLOCK_EBUSY, "%s '%.*s': held by %s and %zu more",
			kind, shown, r->name, all.label, all.n - 1);
}
