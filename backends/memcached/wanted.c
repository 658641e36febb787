/* SPDX-License-Identifier: Apache-2.0 */
/* Watched claims, and the wish for them. */
#include <string.h>

#include "backends/memcached/memcached.h"

void dlki_memc_unwatch(struct memc_ticket *t)
{
	if (t->in_watched.le_prev)
		LIST_REMOVE(t, in_watched);
	t->in_watched.le_prev = NULL;
}

struct memc_ticket *dlki_memc_watched(const struct memc_server *s,
				      const char *owner)
{
	struct memc_ticket *t = LIST_FIRST(&s->watched);

	while (t && strcmp(t->base.request.owner, owner) != 0)
		t = LIST_NEXT(t, in_watched);
	return t;
}

int dlki_memc_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			   struct dlk_error *err)
{
	struct memc_ticket *t = (struct memc_ticket *)base;
	const struct dlki_opcall_op *op = &t->ask;
	struct dlki_opcall stack, *call;
	int rc;

	call = dlki_memc_call(&stack, t, DLKI_WATCH, deadline);
	if (!t->in_watched.le_prev)
		LIST_INSERT_HEAD(&t->server->watched, t, in_watched);
	base->token_last = base->token;
	rc = op->base.outcome == DLKI_ANSWERED ?
		     op->base.wanted :
		     dlki_opcall_error(call, op, err);
	dlki_opcall_done(call);
	return rc;
}
