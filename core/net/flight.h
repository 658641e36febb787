/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in flight on a connection: a FIFO with their places in the stream of
 * bytes.  From these follows exactly which requests were sent, and when.
 */
#ifndef DLOCK_CORE_NET_FLIGHT_H
#define DLOCK_CORE_NET_FLIGHT_H

#include <dlock/backend.h>
#include <stddef.h>
#include <stdint.h>

struct dlki_op;

/* A request. */
struct dlki_slot {
	struct dlki_op *op; /* NULL: the claim no longer waits */
	uint64_t start;     /* place in the stream of the first byte */
	dlk_time since;     /* read before the first byte's write; 0: unsent */
	int verb;
};

/* Zeroed: empty. */
struct dlki_flight {
	struct dlki_slot *v;
	size_t room;           /* a power of 2, or 0 */
	uint64_t first, end;   /* serials of the slots here */
	uint64_t marked;       /* serial of the first slot with since == 0 */
};

/* Reserve room for a slot. */
int dlki_flight_reserve(struct dlki_flight *f);
void dlki_flight_free(struct dlki_flight *f);

/* Add a slot, in reserved room; return the serial. */
uint64_t dlki_flight_add(struct dlki_flight *f, struct dlki_slot slot);

/* Return the slot.  NULL: no slot has the serial any longer, or yet. */
static inline struct dlki_slot *dlki_flight_at(const struct dlki_flight *f,
					       uint64_t serial)
{
	return serial - f->first < f->end - f->first ?
		       &f->v[serial & (f->room - 1)] :
		       NULL;
}

/* Mark the slots before the place `to`, which are about to be written. */
void dlki_flight_mark(struct dlki_flight *f, uint64_t to, dlk_time since);

/* Unmark: no byte from the place `from` on was written after all. */
void dlki_flight_unmark(struct dlki_flight *f, uint64_t from);

/* Remove the first request. */
void dlki_flight_pop(struct dlki_flight *f);

/* Remove all requests.  Serials go on. */
void dlki_flight_clear(struct dlki_flight *f);

#endif
