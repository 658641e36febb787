/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the protocol: sent on a link, and answered in the same order. */
#include "core/loop/ops.h"

void dlki_send(struct dlki_link *l, enum dlki_verb verb,
	       struct dlki_op *const ops[], size_t n, const void *bytes,
	       size_t len)
{
	struct dlki_engine *e = l->engine;
	int64_t serial;

	if (l->cut ||
	    (l->state != DLKI_LINK_GREETING && l->state != DLKI_LINK_UP))
		return;
	serial = dlki_link_append(l, (int)verb, ops, n, bytes, len);
	if (serial < 0) {
		dlki_link_cut(l, DLOCK_ENOMEM, "out of memory");
		return;
	}
	l->probed = verb == DLKI_PING;
	for (size_t i = 0; ops && i < n; i++)
		dlki_ops_sent(ops[i], l, (uint64_t)serial + i);
	/* The alarm derives the due time from the flight: links.c. */
	if (l->alarm.timer.place == 0)
		dlki_alarm_set(&e->alarms, &l->alarm, e->now + e->patience_ns);
}

int dlki_has_output(const struct dlki_link *l)
{
	return dlki_link_has_output(l);
}

int dlki_front(const struct dlki_link *l, struct dlki_front *out)
{
	const struct dlki_slot *slot = dlki_flight_at(&l->flight,
						      l->flight.first);

	if (!slot)
		return 0;
	out->verb = (enum dlki_verb)slot->verb;
	out->n = slot->n;
	out->since = slot->since;
	return 1;
}

struct dlki_op *dlki_front_op(const struct dlki_link *l, size_t i)
{
	const struct dlki_slot *slot = dlki_flight_at(&l->flight,
						      l->flight.first + i);

	return slot ? slot->op : NULL;
}

void dlki_pop(struct dlki_link *l)
{
	const struct dlki_slot *slot = dlki_flight_at(&l->flight,
						      l->flight.first);

	if (!slot)
		return;
	for (size_t i = 0, n = slot->n; i < n; i++) {
		struct dlki_op *op = dlki_front_op(l, i);

		if (op)
			dlki_ops_end(op, DLKI_UNANSWERED, DLKI_RESIDUE_MAYBE);
	}
	dlki_flight_pop(&l->flight);
}
