/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/verbs.h"

#include "core/loop/call.h"

/* Rows come with the last answer, so an op may always begin anew. */
static int ask(struct dlk_session *base, struct dlki_opcall_op *op,
	       const struct dlk_request *request, enum dlki_verb verb,
	       dlk_time deadline, struct dlk_error *err)
{
	struct dlki_remote *s = (struct dlki_remote *)base;

	op->anew = 1;
	op->base.request = request;
	return dlki_opcall_one(op, s->server_of(base, request->name), verb,
			       deadline, err);
}

int dlki_remote_inspect(struct dlk_session *s,
			const struct dlk_request *request,
			void (*each)(const struct dlock_participant *p,
				     void *arg),
			void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .each.participant = each,
					       .each_arg = arg } };

	return ask(s, &op, request, DLKI_INSPECT, deadline, err);
}

int dlki_remote_resize(struct dlk_session *s, const struct dlk_request *request,
		       dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { 0 };
	int rc = ask(s, &op, request, DLKI_RESIZE, deadline, err);

	return rc == 0 && !op.base.stood ? DLOCK_EINVAL : rc;
}

int dlki_remote_break(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err)
{
	char about[DLKI_ABOUT] = "";
	struct dlki_opcall_op op = { .base = { .about = about } };

	return ask(s, &op, request, DLKI_BREAK, deadline, err);
}

int dlki_remote_revoke(struct dlk_session *s, const struct dlk_request *request,
		       dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { 0 };

	return ask(s, &op, request, DLKI_REVOKE, deadline, err);
}
