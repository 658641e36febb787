/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/watcher.h"
#include "backends/zk/session.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEFER_NS (20 * DLK_MS)

void dlki_zk_watcher_unlink(struct zk_watcher *w)
{
	if (w->in_watch.le_prev)
		LIST_REMOVE(w, in_watch);
	w->in_watch.le_prev = NULL;
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
	LIST_INSERT_HEAD(&s->watchers.all, w, in_all);
	return w;
}

void dlki_zk_watcher_free(struct zk_watcher *w)
{
	LIST_REMOVE(w, in_all);
	free(w);
}

/* ---- Deferred watches ---------------------------------------------------- */

void dlki_zk_watcher_defer(struct zk_session *s, struct zk_watcher *w)
{
	w->due = dlk_now() + DEFER_NS;
	w->fired = ZK_NOT_FIRED;
	TAILQ_INSERT_TAIL(&s->watchers.deferred, w, in_deferred);
	dlki_zk_timer_set(s, w->due);
}

void dlki_zk_watcher_undefer(struct zk_session *s, struct zk_watcher *w)
{
	if (w->in_deferred.tqe_prev)
		TAILQ_REMOVE(&s->watchers.deferred, w, in_deferred);
	w->in_deferred.tqe_prev = NULL;
}

void dlki_zk_watchers_init(struct zk_session *s)
{
	TAILQ_INIT(&s->watchers.deferred);
}

void dlki_zk_watchers_free(struct zk_session *s)
{
	struct zk_watcher *w = LIST_FIRST(&s->watchers.all), *next;

	for (; w; w = next) {
		next = LIST_NEXT(w, in_all);
		free(w);
	}
}
