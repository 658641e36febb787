/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a ticket. */
#include "backends/memcached/memcached.h"

struct dlki_opcall_op *dlki_memc_prepare(struct memc_ticket *t,
					 enum dlki_verb verb, dlk_time deadline)
{
	struct dlki_session *s = &t->server->engine;
	struct dlki_opcall_op *op = verb == DLKI_RELEASE ? &t->rel : &t->ask;

	dlki_opcall_op_prepare(op, s, verb, deadline);
	op->anew = 1;
	op->base.request = &t->base.request;
	op->base.claim = &t->asked;
	op->base.id = t->base.id;
	op->base.token = t->base.token;
	op->base.is_last = t->base.last;
	return op;
}

void dlki_memc_call(struct dlki_opcall *call, struct memc_ticket *t,
		    enum dlki_verb verb, dlk_time deadline)
{
	struct dlki_session *s = &t->server->engine;

	dlki_opcall_begin(call, s, deadline);
	dlki_opcall_add(call, dlki_memc_prepare(t, verb, deadline));
	dlki_opcall_await(call);
}
