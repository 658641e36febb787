/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session has a single watch for each path in the server, however many
 * tickets have an interest in the node.  The watch goes with the last ticket.
 *
 * Each handle of the client library has a single connection, without the
 * watches of earlier handles.  So the session sets them again, one by one.
 */
#include "backends/zk/watch.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"
#include "backends/zk/watcher.h"
#include "core/base/error.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum watch_state {
	ASKED,  /* not yet answered */
	SET,    /* the server has said so */
	DROPPED /* to be set when there is a connection again */
};

struct zk_watch {
	LIST_HEAD(, zk_watcher) watchers;
	enum watch_state state;
	int own;         /* of a node of ours, gone with the node */
	int of_revokes;  /* of a node that need not be there */
	int32_t version; /* of the node, when the watch was set */
	const char *path;
	char text[];
};

static int by_path(const void *a, const void *b)
{
	const struct zk_watch *p = a, *q = b;

	return strcmp(p->path, q->path);
}

static struct zk_watch *new_watch(const char *path)
{
	size_t size = strlen(path) + 1;
	struct zk_watch *w = calloc(1, sizeof(*w) + size);

	if (w)
		w->path = memcpy(w->text, path, size);
	return w;
}

static void forget_watch(struct zk_session *s, struct zk_watch *w)
{
	tdelete(w, &s->watches.by_path, by_path);
	free(w);
}

static struct zk_watch *find_watch(struct zk_session *s, const char *path)
{
	struct zk_watch key = { .path = path };
	struct zk_watch **at = tfind(&key, &s->watches.by_path, by_path);

	return at ? *at : NULL;
}

/* ---- Events -------------------------------------------------------------- */

static void tell_watcher(struct zk_session *s, struct zk_watcher *w,
			 enum zk_fired fired)
{
	dlki_zk_watcher_unlink(w);
	w->watch = NULL;
	w->fired = fired;
	if (!s->core)
		return;
	if (w->of_revokes)
		dlk_wanted(s->core, w->id);
	else if (!w->own)
		dlk_wake(s->core, w->id);
	else if (fired == ZK_GONE)
		dlk_lost(s->core, w->id, "its node was deleted");
	else if (fired != ZK_HIDDEN && s->conn && s->conn->state != ZK_EXPIRED)
		dlki_zk_watcher_defer(s, w); /* set it again */
}

static void fire_watch(struct zk_session *s, struct zk_watch *watch,
		       enum zk_fired fired)
{
	while (!LIST_EMPTY(&watch->watchers))
		tell_watcher(s, LIST_FIRST(&watch->watchers), fired);
	forget_watch(s, watch);
}

/* The node changed before the watch was set. */
static void tell_outdated(struct zk_session *s, struct zk_watch *watch)
{
	struct zk_watcher *w = LIST_FIRST(&watch->watchers), *next;

	for (; w; w = next) {
		next = LIST_NEXT(w, in_watch);
		if (w->version >= 0 && w->version != watch->version)
			tell_watcher(s, w, ZK_CHANGED);
	}
}

static void on_node_event(zhandle_t *zh, int type, int state, const char *path,
			  void *session)
{
	struct zk_session *s = session;
	struct zk_watch *watch;

	(void)zh;
	(void)state;
	if (type == ZOO_SESSION_EVENT)
		return;
	watch = find_watch(s, path);
	if (watch)
		fire_watch(s, watch,
			   type == ZOO_DELETED_EVENT ? ZK_GONE : ZK_CHANGED);
}

static void on_watch_set(struct zk_session *s, struct zk_call *call)
{
	struct zk_watch *watch = find_watch(s, call->path);

	if (!watch)
		return;
	watch->version = call->stat.version;
	if (call->rc == ZOK)
		tell_outdated(s, watch);
	if (call->rc != ZOK && !(watch->of_revokes && call->rc == ZNONODE)) {
		fire_watch(s, watch,
			   call->rc == ZNONODE ? ZK_GONE :
			   call->rc == ZNOAUTH ? ZK_HIDDEN :
						 ZK_CHANGED);
	} else if (LIST_EMPTY(&watch->watchers)) {
		if (!watch->own)
			dlki_zk_unwatch_path(s, watch->path);
		forget_watch(s, watch);
	} else {
		watch->state = SET;
	}
}

/* ---- Watchers ------------------------------------------------------------ */

/* 0: there was a watch of the path; 1: it is to be set; or ENOMEM. */
static int link_watch(struct zk_session *s, struct zk_watcher *w)
{
	struct zk_watch *watch = new_watch(w->path), **at;

	if (!watch)
		return DLOCK_ENOMEM;
	at = tsearch(watch, &s->watches.by_path, by_path);
	if (!at || *at != watch)
		free(watch);
	if (!at)
		return DLOCK_ENOMEM;
	w->watch = *at;
	w->watch->own |= w->own;
	w->watch->of_revokes = w->of_revokes;
	LIST_INSERT_HEAD(&w->watch->watchers, w, in_watch);
	return *at == watch;
}

/* Join the watch of the path.  Set the watch if there is no watch yet. */
static int join_watch(struct zk_session *s, struct zk_watcher *w)
{
	int rc = link_watch(s, w);

	if (rc > 0)
		rc = dlki_zk_watch_path(s, w->path, on_node_event,
					on_watch_set);
	else if (rc == 0 && w->watch->state == SET)
		tell_outdated(s, w->watch);
	if (rc != 0 && w->watch) {
		struct zk_watch *watch = w->watch;

		dlki_zk_watcher_unlink(w);
		w->watch = NULL;
		forget_watch(s, watch);
	}
	return rc;
}

struct zk_watcher *dlki_zk_watch(struct zk_session *s, uint64_t id,
				 const char *path, int32_t version,
				 struct dlk_error *err)
{
	struct zk_watcher *w = dlki_zk_watcher_new(s, id, path);
	int rc = DLOCK_ENOMEM;

	if (w) {
		w->version = version;
		rc = join_watch(s, w);
	}
	s->watches.ahead += rc == 0;
	if (rc == 0)
		return w;
	if (w)
		dlki_zk_watcher_free(w);
	dlk_fail(err, rc,
		 rc == DLOCK_ENOMEM ? "out of memory" :
				      "the watch could not be set");
	return NULL;
}

int dlki_zk_watch_own(struct zk_session *s, struct zk_ticket *t,
		      const char *dir, int later, struct dlk_error *err)
{
	char path[ZK_PATH_SIZE];

	if (t->own)
		return 0;
	dlki_zk_path(path, dir, t->node);
	t->own = dlki_zk_watcher_new(s, t->base.id, path);
	if (!t->own)
		return dlki_nomem(err);
	t->own->own = 1;
	if (later || join_watch(s, t->own) != 0)
		dlki_zk_watcher_defer(s, t->own);
	return 0;
}

/* The answer comes behind those to earlier requests for the same watch. */
struct zk_call *dlki_zk_revokes_watch(struct zk_session *s, struct zk_ticket *t)
{
	char dir[ZK_PATH_SIZE], path[ZK_PATH_SIZE];
	struct zk_call *call;

	dlki_zk_dir(s, &t->base.request, dir);
	dlki_zk_path(path, dir, ZK_REVOKE_NODE);
	if (!t->revokes)
		t->revokes = dlki_zk_watcher_new(s, t->base.id, path);
	if (!t->revokes)
		return NULL;
	t->revokes->of_revokes = 1;
	if (!t->revokes->watch && link_watch(s, t->revokes) < 0)
		return NULL;
	call = dlki_zk_exists_watched(s, path, on_node_event, on_watch_set);
	if ((!call || call->done) && t->revokes->watch)
		fire_watch(s, t->revokes->watch, ZK_CHANGED);
	return call;
}

struct zk_watcher *dlki_zk_waiter_at(struct zk_session *s, const char *path)
{
	const struct zk_watch *watch = find_watch(s, path);
	struct zk_watcher *w = watch ? LIST_FIRST(&watch->watchers) : NULL;

	while (w && !w->own)
		w = LIST_NEXT(w, in_watch);
	return w;
}

void dlki_zk_waiters_settle(struct zk_session *s, uint64_t over, uint64_t used)
{
	struct zk_watcher *w;

	LIST_FOREACH(w, &s->watchers.all, in_all) {
		if (w->over != over)
			continue;
		w->over = 0;
		if (w->used < used)
			w->used = used;
	}
}

int dlki_zk_watch_stands(const struct zk_watcher *w)
{
	return w && w->watch && w->watch->state == SET;
}

dlk_time dlki_zk_watches_set_deferred(struct zk_session *s)
{
	struct zk_watcher *w;

	while ((w = TAILQ_FIRST(&s->watchers.deferred))) {
		if (w->due > dlk_now())
			return w->due;
		dlki_zk_watcher_undefer(s, w);
		if (!dlki_zk_is_up(s) || join_watch(s, w) != 0)
			dlki_zk_watcher_defer(s, w);
	}
	return DLK_FOREVER;
}

/* The watch of our own node goes when the node is deleted. */
void dlki_zk_unwatch(struct zk_session *s, struct zk_watcher *w)
{
	struct zk_watch *watch = w ? w->watch : NULL;

	if (!w)
		return;
	dlki_zk_watcher_undefer(s, w);
	dlki_zk_watcher_unlink(w);
	w->watch = NULL; /* the connection may go meanwhile: watches_down() */
	if (watch && LIST_EMPTY(&watch->watchers) && watch->state != ASKED) {
		int is_set = watch->state == SET;

		forget_watch(s, watch);
		if (!w->own && is_set)
			dlki_zk_unwatch_path(s, w->path);
	}
	dlki_zk_watcher_free(w);
}

void dlki_zk_unwatch_ahead(struct zk_session *s, struct zk_ticket *t)
{
	while (t->ahead) {
		struct zk_watcher *w = t->ahead;

		t->ahead = w->more;
		s->watches.ahead--;
		dlki_zk_unwatch(s, w);
	}
	t->sole = NULL;
}

/* Revokes of others are unknown from now on. */
void dlki_zk_watches_down(struct zk_session *s)
{
	struct zk_watcher *w;

	LIST_FOREACH(w, &s->watchers.all, in_all) {
		if (w->watch && w->of_revokes)
			fire_watch(s, w->watch, ZK_CHANGED);
		else if (w->watch && w->watch->state == SET)
			w->watch->state = DROPPED;
	}
}

void dlki_zk_watches_up(struct zk_session *s)
{
	struct zk_watcher *w;

	LIST_FOREACH(w, &s->watchers.all, in_all) {
		struct zk_watch *watch = w->watch;

		if (!watch || watch->state != DROPPED)
			continue;
		watch->state = ASKED;
		if (dlki_zk_watch_path(s, watch->path, on_node_event,
				       on_watch_set) != 0)
			fire_watch(s, watch, ZK_CHANGED);
	}
}

void dlki_zk_watches_over(struct zk_session *s)
{
	while (s->watches.by_path)
		fire_watch(s, *(struct zk_watch **)s->watches.by_path,
			   ZK_CHANGED);
	while (!TAILQ_EMPTY(&s->watchers.deferred))
		dlki_zk_watcher_undefer(s, TAILQ_FIRST(&s->watchers.deferred));
}
