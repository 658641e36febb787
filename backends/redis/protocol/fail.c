/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/fault.h"
#include "backends/redis/protocol/store.h"
#include "core/base/error.h"

enum redis_taken dlki_redis_store_fault(struct redis_store *s,
					const struct redis_answer *a)
{
	const struct redis_reply *reply = a->reply;
	char peer[DLKI_PEER];
	int keep;

	dlki_redis_store_leave(s, reply);
	dlki_peer(s->main.link, peer);
	dlki_redis_fault(reply->text, reply->len, peer, &keep, a->err);
	dlki_failed(a->op, a->err, DLKI_RESIDUE_MAYBE);
	return keep ? RD_TAKEN : RD_CUT;
}

void dlki_redis_store_no_memory(struct dlki_op *op)
{
	struct dlk_error err;

	dlki_nomem(&err);
	dlki_failed(op, &err, DLKI_RESIDUE_NONE);
}
