/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/watcher.h"
#include "backends/zk/session.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEFER_NS (20 * DLK_MS)

void dlki_zk_watcher_link(struct zk_watcher *w, struct zk_watcher **first)
{
	w->next = *first;
	w->prev = first;
	if (w->next)
		w->next->prev = &w->next;
	*first = w;
}

void dlki_zk_watcher_unlink(struct zk_watcher *w)
{
	if (!w->prev)
		return;
	*w->prev = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->prev = NULL;
}

struct zk_watcher *dlki_zk_watcher_new(struct zk_session *s, uint64_t id,
				       const char *path)
{
	size_t size = strlen(path) + 1;
	struct zk_watcher *w = calloc(1,
				      offsetof(struct zk_watcher, path) + size);

	if (!w)
		return NULL;
	memcpy(w->path, path, size);
	w->id = id;
	w->version = -1;
	w->all_next = s->watchers.all;
	w->all_prev = &s->watchers.all;
	if (w->all_next)
		w->all_next->all_prev = &w->all_next;
	s->watchers.all = w;
	return w;
}

void dlki_zk_watcher_free(struct zk_watcher *w)
{
	*w->all_prev = w->all_next;
	if (w->all_next)
		w->all_next->all_prev = w->all_prev;
	free(w);
}

/* ---- Deferred watches ---------------------------------------------------- */

void dlki_zk_watcher_defer(struct zk_session *s, struct zk_watcher *w)
{
	w->due = dlk_now() + DEFER_NS;
	w->fired = ZK_NOT_FIRED;
	w->next = NULL;
	w->prev = s->watchers.deferred_end;
	*s->watchers.deferred_end = w;
	s->watchers.deferred_end = &w->next;
	dlki_zk_timer_set(s, w->due);
}

void dlki_zk_watcher_undefer(struct zk_session *s, struct zk_watcher *w)
{
	if (s->watchers.deferred_end == &w->next)
		s->watchers.deferred_end = w->prev;
	dlki_zk_watcher_unlink(w);
}

void dlki_zk_watchers_init(struct zk_session *s)
{
	s->watchers.deferred_end = &s->watchers.deferred;
}

void dlki_zk_watchers_free(struct zk_session *s)
{
	while (s->watchers.all) {
		struct zk_watcher *w = s->watchers.all;

		s->watchers.all = w->all_next;
		free(w);
	}
}
