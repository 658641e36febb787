/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/orphans.h"
#include "backends/zk/session.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_NS (200 * DLK_MS)

static void pause_sweep(struct zk_session *s)
{
	s->orphans.sweep_at = dlk_now() + PAUSE_NS;
}

static void remove_orphan(struct zk_orphan **at)
{
	struct zk_orphan *o = *at;

	*at = o->next;
	free(o);
}

static struct zk_orphan **find_orphan(struct zk_session *s, const char *owner)
{
	struct zk_orphan **at = &s->orphans.first;

	while (*at && strcmp((*at)->owner, owner) != 0)
		at = &(*at)->next;
	return at;
}

void dlki_zk_orphan_set(struct zk_orphan *o, const struct zk_ticket *t)
{
	const struct dlk_request *request = &t->base.request;

	o->ticket = *t;
	o->ticket.room = NULL;
	memcpy(o->key, request->key, strlen(request->key) + 1);
	memcpy(o->owner, request->owner, strlen(request->owner) + 1);
	o->ticket.base.request.key = o->key;
	o->ticket.base.request.owner = o->owner;
}

struct zk_orphan *dlki_zk_orphan_new(void)
{
	return calloc(1, sizeof(struct zk_orphan));
}

void dlki_zk_orphans_put(struct zk_session *s, struct zk_orphan *o)
{
	dlki_zk_orphans_remove(s, o->owner);
	o->next = s->orphans.first;
	s->orphans.first = o;
	pause_sweep(s);
	dlki_zk_timer_set(s, s->orphans.sweep_at);
}

void dlki_zk_orphans_add(struct zk_session *s, struct zk_ticket *t)
{
	struct zk_orphan *o = t->room;

	t->room = NULL;
	if (!o && !*find_orphan(s, t->base.request.owner))
		o = dlki_zk_orphan_new();
	if (!o)
		return;
	dlki_zk_orphan_set(o, t);
	dlki_zk_orphans_put(s, o);
}

void dlki_zk_orphans_remove(struct zk_session *s, const char *owner)
{
	struct zk_orphan **at = s->orphans.first ? find_orphan(s, owner) :
						   &s->orphans.first;

	if (*at)
		remove_orphan(at);
}

void dlki_zk_orphans_put_off(struct zk_session *s)
{
	struct zk_orphan *o = s->orphans.first, **at = &s->orphans.first;

	pause_sweep(s);
	if (!o)
		return;
	*at = o->next;
	o->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = o;
}

void dlki_zk_orphans_free(struct zk_session *s)
{
	while (s->orphans.first)
		remove_orphan(&s->orphans.first);
}
