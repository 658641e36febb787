/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/foreign.h"

#include "core/loop/state.h"

/* Their places come after the links'. */
enum { FIRST = DLKI_LINKS };

static void foreign_rings(struct dlki_alarm *a, dlk_time now)
{
	struct dlki_foreign *f =
		(struct dlki_foreign *)((char *)a -
					offsetof(struct dlki_foreign, alarm));

	f->ready(f, 0, now);
}

int dlki_foreign_add(struct dlki_engine *e, struct dlki_foreign *f,
		     enum dlki_set set,
		     void (*ready)(struct dlki_foreign *f, unsigned int events,
				   dlk_time now))
{
	uint32_t i = 0;

	while (i < DLKI_FOREIGNS && e->foreigns[i])
		i++;
	if (i == DLKI_FOREIGNS)
		return DLOCK_EEXHAUSTED;
	if (dlki_alarms_reserve(&e->alarms, 1) != 0)
		return DLOCK_ENOMEM;
	*f = (struct dlki_foreign){
		.engine = e,
		.set = set,
		.tag = { FIRST + i, ++e->foreign_generation },
		.fd = -1,
		.alarm = { .ring = foreign_rings },
		.ready = ready,
	};
	e->foreigns[i] = f;
	return 0;
}

static void unwatch(struct dlki_foreign *f)
{
	struct dlki_world *w = f->engine->world;

	if (f->fd >= 0)
		(void)w->type->watch(w, f->fd, 0, f->set, f->tag);
	f->fd = -1;
	f->events = 0;
	f->tag.generation = ++f->engine->foreign_generation;
}

int dlki_foreign_set(struct dlki_foreign *f, int fd, unsigned int events,
		     dlk_time at)
{
	struct dlki_world *w = f->engine->world;

	dlki_alarm_set(&f->engine->alarms, &f->alarm, at);
	if (events == 0)
		fd = -1;
	if (fd == f->fd && events == f->events)
		return 0;
	unwatch(f);
	if (fd < 0)
		return 0;
	if (w->type->watch(w, fd, events, f->set, f->tag) != 0)
		return DLOCK_ENOMEM;
	f->fd = fd;
	f->events = events;
	return 0;
}

void dlki_foreign_remove(struct dlki_foreign *f)
{
	struct dlki_engine *e = f->engine;

	dlki_alarm_set(&e->alarms, &f->alarm, DLK_FOREVER);
	dlki_alarms_unreserve(&e->alarms, 1);
	unwatch(f);
	e->foreigns[f->tag.place - FIRST] = NULL;
}

void dlki_foreigns_event(struct dlki_engine *e, const struct dlki_event *event)
{
	uint32_t i = event->tag.place - FIRST;
	struct dlki_foreign *f = i < DLKI_FOREIGNS ? e->foreigns[i] : NULL;
	unsigned int bits = event->bits;

	if (!f || f->tag.generation != event->tag.generation)
		return;
	/* A library learns of the end by reading. */
	if (bits & DLKI_ENDED)
		bits |= DLKI_READABLE;
	bits &= f->events;
	if (bits)
		f->ready(f, bits, e->now);
}

int dlki_foreigns_exist(const struct dlki_engine *e)
{
	for (size_t i = 0; i < DLKI_FOREIGNS; i++) {
		if (e->foreigns[i])
			return 1;
	}
	return 0;
}
