/* SPDX-License-Identifier: Apache-2.0 */
/* What a call returns to the core. */
#include "core/loop/call.h"

#include "core/base/error.h"

/* A server said so over a connection: another connection may do. */
static int is_word_of_a_server(int code)
{
	return code == DLOCK_EPROTO || code == DLOCK_EDENIED ||
	       code == DLOCK_EINVAL || code == DLOCK_ENOTSUP;
}

static const char *in_time(const struct dlki_opcall_op *op, int up)
{
	if (!up)
		return "not connected in time";
	return op->base.outcome == DLKI_UNSENT ?
		       "connected, but no time was left to ask anything" :
		       "no answer in time";
}

int dlki_opcall_error(const struct dlki_opcall *call,
		      const struct dlki_opcall_op *op, struct dlk_error *err)
{
	const struct dlki_session *s = call->session;
	int up = dlki_engine_is_up(s->engine);
	struct dlk_error why;

	if (op->base.outcome == DLKI_FAILED ||
	    (op->base.outcome == DLKI_UNANSWERED && call->failed.code != 0)) {
		*err = call->failed;
		return err->code;
	}
	if (op->base.outcome == DLKI_AGAIN)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s did not take the request", s->server);
	if (op->unreachable)
		why = call->why;
	else
		dlki_engine_why(s->engine, &why);
	if (why.code != 0 && (!op->over || op->unreachable || !up)) {
		*err = why;
		if (!op->unreachable && is_word_of_a_server(why.code))
			err->code = DLOCK_EUNREACHABLE;
		return err->code;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", s->server,
			in_time(op, up));
}

void dlki_opcall_lease(const struct dlki_opcall_op *op, struct dlk_ticket *t)
{
	t->since = op->base.since;
	t->lease_ms = op->base.lease_ms;
}

enum dlk_renewal dlki_opcall_renewed(const struct dlki_opcall *call,
				     const struct dlki_opcall_op *op,
				     struct dlk_ticket *t,
				     struct dlk_error *err)
{
	if (op->base.outcome != DLKI_ANSWERED) {
		if (err->code == 0)
			dlki_opcall_error(call, op, err);
		return DLK_UNKNOWN;
	}
	if (!op->base.stood)
		return DLK_GONE;
	dlki_opcall_lease(op, t);
	return DLK_RENEWED;
}
