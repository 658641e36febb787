/* SPDX-License-Identifier: Apache-2.0 */
/* Watched claims, and the wish that they are given up. */
#include <string.h>

#include "backends/memcached/engine/session.h"

static void watch(struct memc2_ticket *t)
{
	struct memc2_session *s = dlki_memc2_session(t->base.session);

	if (t->link)
		return;
	t->next = s->watched;
	t->link = &s->watched;
	if (t->next)
		t->next->link = &t->next;
	s->watched = t;
}

void dlki_memc2_unwatch(struct memc2_ticket *t)
{
	if (!t->link)
		return;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->link = NULL;
}

struct memc2_ticket *dlki_memc2_watched(const struct memc2_session *s,
					const char *owner)
{
	struct memc2_ticket *t = s->watched;

	while (t && strcmp(t->base.request.owner, owner) != 0)
		t = t->next;
	return t;
}

int dlki_memc2_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			    struct dlk_error *err)
{
	struct memc2_ticket *t = (struct memc2_ticket *)base;
	const struct dlki_opcall_op *op = &t->ask;
	struct dlki_opcall call;
	int rc;

	dlki_memc2_call(&call, t, DLKI_WATCH, deadline);
	watch(t);
	base->token_last = base->token;
	rc = op->base.outcome == DLKI_ANSWERED ?
		     op->base.wanted :
		     dlki_opcall_error(&call, op, err);
	dlki_opcall_end(&call);
	return rc;
}

int dlki_memc2_revoke(struct dlk_session *base,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .request = request },
				     .anew = 1 };

	dlki_opcall_op_prepare(&op, &dlki_memc2_session(base)->engine,
			       DLKI_REVOKE, deadline);
	return dlki_opcall_one(&op, deadline, err);
}
