/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a ticket. */
#include "backends/memcached/memcached.h"

static struct dlki_opcall_op *op_of(struct memc_ticket *t, enum dlki_verb verb)
{
	return verb == DLKI_RELEASE ? &t->rel : &t->ask;
}

struct dlki_opcall_op *dlki_memc_prepare(struct memc_ticket *t,
					 enum dlki_verb verb, dlk_time deadline)
{
	struct dlki_session *s = &t->server->engine;
	struct dlki_opcall_op *op = op_of(t, verb);

	dlki_opcall_op_prepare(op, s, verb, deadline);
	op->anew = 1;
	op->base.request = &t->base.request;
	op->base.claim = &t->asked;
	op->base.id = t->base.id;
	op->base.token = t->base.token;
	op->base.is_last = t->base.last;
	return op;
}

struct dlki_opcall *dlki_memc_call(struct dlki_opcall *stack,
				   struct memc_ticket *t, enum dlki_verb verb,
				   dlk_time deadline)
{
	struct dlki_opcall_op *op = op_of(t, verb);

	dlki_session_lock(&t->server->engine);
	if (!op->own)
		op = dlki_memc_prepare(t, verb, deadline);
	return dlki_opcall_carry_out(op, stack, &t->base, deadline, 1);
}

void dlki_memc_forgo(struct memc_ticket *t)
{
	if (t->ask.own)
		dlki_opcall_forgo(&t->ask);
	if (t->rel.own)
		dlki_opcall_forgo(&t->rel);
}
