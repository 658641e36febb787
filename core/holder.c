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

static int fail_held_by(const struct dlki_record *r, const char *who,
			struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EBUSY, "%s '%.*s': held by %s",
			dlki_kind_name(r->kind),
			(int)dlk_utf8_clip(r->name, SHOWN), r->name, who);
}

int dlki_holder_here(const struct dlki_record *r, struct dlk_error *err)
{
	const struct dlki_claim *h = LIST_FIRST(&r->held);

	while (h && (h->state != DLKI_HELD || !dlki_claim_excludes(h)))
		h = LIST_NEXT(h, in_list);
	if (!h)
		return 0;
	if (h->thread == DLKI_NO_THREAD || h->thread == dlki_thread_serial())
		return fail_held_by(r, "this process itself", err);
	return fail_held_by(r, "another thread of this process", err);
}

int dlki_holder_fail(struct dlki_record *r, const struct dlki_claim *beside,
		     dlk_time limit, struct dlk_error *err)
{
	struct holders all = { .but = beside ? beside->token : 0 };
	int rc;

	pthread_mutex_lock(&r->client->mu);
	rc = dlki_holder_here(r, err);
	pthread_mutex_unlock(&r->client->mu);
	if (rc != 0)
		return rc;
	if (may_ask(r, limit) &&
	    dlki_holder_ask(r, note_holder, &all, limit) != 0)
		all.n = 0;
	if (all.n == 0)
		return fail_held_by(r, "others until the deadline", err);
	fail_held_by(r, all.label, err);
	if (all.n == 1)
		return DLOCK_EBUSY;
	return dlk_fail(err, DLOCK_EBUSY, "%s and %zu more", err->text,
			all.n - 1);
}
