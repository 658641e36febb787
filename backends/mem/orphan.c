/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/orphan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mem/queue.h"

struct orphan {
	struct mem_ticket ticket;
	LIST_ENTRY(orphan) entry;
	char text[]; /* the owner and the label */
};

static LIST_HEAD(, orphan) orphans; /* under dlki_mem_mu */

/* Free the orphans that have left their queues. */
static void sweep(void)
{
	struct orphan *next;

	for (struct orphan *o = LIST_FIRST(&orphans); o; o = next) {
		next = LIST_NEXT(o, entry);
		if (o->ticket.queue)
			continue;
		LIST_REMOVE(o, entry);
		free(o);
	}
}

static struct orphan *orphan_new(const struct mem_ticket *t)
{
	const struct dlk_request *request = &t->base.request;
	size_t owner = strlen(request->owner) + 1;
	size_t label = strlen(request->label) + 1;
	struct orphan *o = malloc(sizeof(*o) + owner + label);

	if (!o)
		return NULL;
	o->ticket = *t;
	o->ticket.orphan = 1;
	o->ticket.base.request.owner = memcpy(o->text, request->owner, owner);
	o->ticket.base.request.label = memcpy(o->text + owner, request->label,
					      label);
	o->ticket.base.request.beside = NULL;
	o->ticket.base.request.name = NULL;
	o->ticket.base.request.key = NULL;
	return o;
}

void dlki_mem_orphan_leave(struct mem_ticket *t)
{
	struct orphan *o;

	sweep();
	o = orphan_new(t);
	if (!o) {
		dlki_mem_dequeue(t);
		return;
	}
	if (!t->granted)
		o->ticket.until = mem_lease_end(mem_session(t->base.session));
	dlki_mem_note_end(t->queue, o->ticket.until);
	TAILQ_INSERT_BEFORE(t, &o->ticket, entry);
	TAILQ_REMOVE(&t->queue->tickets, t, entry);
	t->queue = NULL;
	t->granted = t->watched = 0;
	LIST_INSERT_HEAD(&orphans, o, entry);
}

struct mem_ticket *dlki_mem_orphan_of(const struct mem_ticket *t)
{
	struct orphan *o;

	LIST_FOREACH(o, &orphans, entry) {
		if (o->ticket.queue &&
		    o->ticket.base.session == t->base.session &&
		    o->ticket.base.id == t->base.id)
			return &o->ticket;
	}
	return NULL;
}

void dlki_mem_orphans_close(struct mem_session *s)
{
	struct orphan *o;

	LIST_FOREACH(o, &orphans, entry) {
		if (!o->ticket.queue || o->ticket.base.session != &s->base)
			continue;
		o->ticket.base.session = NULL;
		if (!s->leased)
			dlki_mem_dequeue(&o->ticket);
	}
	sweep();
}

void dlki_mem_orphans_forget(void)
{
	LIST_INIT(&orphans);
}
