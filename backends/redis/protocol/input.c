/* SPDX-License-Identifier: Apache-2.0 */
/* Replies, and the requests to which they belong. */
#include "backends/redis/fault.h"
#include "backends/redis/protocol/store.h"

/* An error of the server's to an op: 0, or why the connection ends. */
static int take_error(struct redis_store *s, struct dlki_op *op,
		      const struct redis_reply *reply, struct dlk_error *err)
{
	char peer[DLKI_PEER];
	int keep;

	if (dlki_redis_fault_is(reply->text, "NOSCRIPT")) {
		for (size_t i = 0; i < RD_TEXTS; i++)
			s->knows[i] = 0;
		dlki_again(op);
		dlki_pop(s->main.link);
		return 0;
	}
	dlki_peer(s->main.link, peer);
	dlki_redis_fault(reply->text, reply->len, peer, &keep, err);
	dlki_failed(op, err, DLKI_RESIDUE_MAYBE);
	dlki_pop(s->main.link);
	return keep ? 0 : err->code;
}

static int take_answer(struct redis_store *s, const struct redis_reply *reply,
		       struct dlk_error *err)
{
	struct dlki_link *l = s->main.link;
	struct dlki_front front;
	struct dlki_op *op;
	int fine;

	if (!dlki_front(l, &front))
		return dlk_fail(err, DLOCK_EPROTO,
				"an answer that nobody asked for");
	if (front.verb == DLKI_GREET)
		return dlki_redis_store_greeted(s, &s->main, reply, err);
	op = dlki_front_op(l, 0);
	if (reply->type == RD_ERROR)
		return take_error(s, op, reply, err);
	if (front.verb == DLKI_ATTEMPT)
		fine = dlki_redis_store_attempted(s, op, reply);
	else if (front.verb == DLKI_RENEW)
		fine = dlki_redis_store_renewed(op, reply);
	else
		fine = dlki_redis_store_released(op, reply);
	if (!fine)
		return dlk_fail(err, DLOCK_EPROTO, "the answer makes no sense");
	dlki_pop(l);
	return 0;
}

int dlki_redis_store_input(struct redis_store *s, struct redis_line *line,
			   const char *bytes, size_t n, dlk_time now,
			   struct dlk_error *err)
{
	const struct redis_reply *reply;
	int rc = dlki_redis_reader_feed(&line->reader, bytes, n, err);

	line->heard = now;
	while (rc == 0) {
		rc = dlki_redis_reader_next(&line->reader, &reply, err);
		if (rc != 1)
			break;
		if (line == &s->main)
			rc = take_answer(s, reply, err);
		else if (dlki_redis_store_message(s, reply))
			rc = 0;
		else
			rc = dlki_redis_store_greeted(s, line, reply, err);
	}
	if (line == &s->ear)
		dlki_redis_store_listen(s, now);
	return rc;
}
