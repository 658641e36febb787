/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session has one watch a path in the server, whatever the number of tickets
 * that have an interest in the node.  The watch goes with the last of them.
 *
 * The client library would set them all anew when it has connected again, in
 * one request, which the server refuses when it is longer than a megabyte, and
 * for ever; and with them those that were given up meanwhile.  So it is made to
 * forget them when the connection goes, and they are set again one by one.
 */
#include "backends/zk/zk.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG_NS (20 * ZK_MS)

enum state {
	ASKED,  /* for, and not yet answered */
	SET,    /* the server has said so */
	DROPPED /* to be set when there is a connection again */
};

struct zk_watch {
	struct zk_watcher *first;
	enum state state;
	int own; /* of a node of ours: it goes with that */
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

static void forget_watch(struct zk_hub *h, struct zk_watch *w)
{
	tdelete(w, &h->watches, by_path);
	free(w);
}

static struct zk_watch *find(struct zk_hub *h, const char *path)
{
	struct zk_watch key = { .path = path };
	struct zk_watch **at = tfind(&key, &h->watches, by_path);

	return at ? *at : NULL;
}

int dlki_zk_watched(struct zk_hub *h, const char *path)
{
	return find(h, path) != NULL;
}

static void link_to(struct zk_watcher *w, struct zk_watcher **first)
{
	w->next = *first;
	w->prev = first;
	if (w->next)
		w->next->prev = &w->next;
	*first = w;
}

static void unlink_from(struct zk_watcher *w)
{
	if (!w->prev)
		return;
	*w->prev = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->prev = NULL;
}

static struct zk_watcher *new_watcher(struct zk_hub *h, uint64_t id,
				      const char *path)
{
	size_t size = strlen(path) + 1;
	struct zk_watcher *w = calloc(1,
				      offsetof(struct zk_watcher, path) + size);

	if (!w)
		return NULL;
	memcpy(w->path, path, size);
	w->id = id;
	w->all_next = h->all;
	w->all_prev = &h->all;
	if (w->all_next)
		w->all_next->all_prev = &w->all_next;
	h->all = w;
	return w;
}

static void free_watcher(struct zk_watcher *w)
{
	*w->all_prev = w->all_next;
	if (w->all_next)
		w->all_next->all_prev = w->all_prev;
	free(w);
}

/* ---- What happens -------------------------------------------------------- */

static void add_young(struct zk_hub *h, struct zk_watcher *w)
{
	w->due = dlk_now() + YOUNG_NS;
	w->fired = ZK_NOT_FIRED;
	w->next = NULL;
	w->prev = h->young_end;
	*h->young_end = w;
	h->young_end = &w->next;
	h->came = 1;
	if (!h->napping) {
		h->napping = 1;
		pthread_cond_signal(&h->work);
	}
}

static void drop_young(struct zk_hub *h, struct zk_watcher *w)
{
	if (h->young_end == &w->next)
		h->young_end = w->prev;
	unlink_from(w);
}

static void tell(struct zk_hub *h, struct zk_watcher *w, enum zk_fired fired)
{
	unlink_from(w);
	w->watch = NULL;
	w->fired = fired;
	w->connects = h->connects;
	if (!h->session)
		return;
	if (!w->own)
		dlk_wake(h->session, w->id);
	else if (fired == ZK_GONE)
		dlk_lost(h->session, w->id, "its node was deleted");
	else if (h->link && h->link->state != ZK_EXPIRED)
		add_young(h, w); /* look again */
}

static void fire(struct zk_hub *h, struct zk_watch *watch, enum zk_fired fired)
{
	while (watch->first)
		tell(h, watch->first, fired);
	forget_watch(h, watch);
}

void dlki_zk_on_watch(zhandle_t *zh, int type, int state, const char *path,
		      void *hub)
{
	struct zk_hub *h = hub;
	struct zk_watch *watch;

	(void)zh;
	(void)state;
	if (type == ZOO_SESSION_EVENT)
		return;
	pthread_mutex_lock(&h->mu);
	watch = find(h, path);
	if (watch)
		fire(h, watch,
		     type == ZOO_DELETED_EVENT ? ZK_GONE : ZK_CHANGED);
	pthread_mutex_unlock(&h->mu);
}

static void answered(struct zk_hub *h, struct zk_call *call)
{
	struct zk_watch *watch = find(h, call->path);

	if (!watch)
		return;
	if (call->rc != ZOK) {
		fire(h, watch, call->rc == ZNONODE ? ZK_GONE : ZK_CHANGED);
	} else if (!watch->first) {
		if (!watch->own)
			dlki_zk_unwatch_path(h, watch->path);
		forget_watch(h, watch);
	} else {
		watch->state = SET;
	}
}

/* ---- What is asked for --------------------------------------------------- */

/* Join the watch of the path, which is set if there is none yet. */
static int join(struct zk_hub *h, struct zk_watcher *w)
{
	struct zk_watch *watch = new_watch(w->path), **at;
	int rc = 0;

	if (!watch)
		return DLOCK_ENOMEM;
	at = tsearch(watch, &h->watches, by_path);
	if (!at || *at != watch)
		free(watch);
	if (!at)
		return DLOCK_ENOMEM;
	w->watch = *at;
	w->watch->own |= w->own;
	link_to(w, &w->watch->first);
	if (*at == watch)
		rc = dlki_zk_watch_path(h, watch->path, answered);
	if (rc != 0) {
		unlink_from(w);
		w->watch = NULL;
		forget_watch(h, watch);
	}
	return rc;
}

struct zk_watcher *dlki_zk_watch(struct zk_hub *h, uint64_t id,
				 const char *path, struct dlk_error *err)
{
	struct zk_watcher *w = new_watcher(h, id, path);
	int rc = w ? join(h, w) : DLOCK_ENOMEM;

	if (rc == 0)
		return w;
	if (w)
		free_watcher(w);
	dlk_fail(err, rc,
		 rc == DLOCK_ENOMEM ? "out of memory" :
				      "the watch could not be set");
	return NULL;
}

struct zk_watcher *dlki_zk_guard(struct zk_hub *h, uint64_t id,
				 const char *path)
{
	struct zk_watcher *w = new_watcher(h, id, path);

	if (w) {
		w->own = 1;
		add_young(h, w);
	}
	return w;
}

struct zk_watcher *dlki_zk_guard_now(struct zk_hub *h, uint64_t id,
				     const char *path)
{
	struct zk_watcher *w = new_watcher(h, id, path);

	if (w) {
		w->own = 1;
		if (join(h, w) != 0)
			add_young(h, w);
	}
	return w;
}

int dlki_zk_guarded(const struct zk_watcher *w)
{
	return w && w->watch && w->watch->state == SET;
}

/* Where one came, another will come soon: the thread goes on looking by itself,
 * which is less than to be woken for each. */
dlk_time dlki_zk_guard_young(struct zk_hub *h)
{
	h->napping = 1;
	while (h->young) {
		struct zk_watcher *w = h->young;

		if (w->due > dlk_now())
			return w->due;
		drop_young(h, w);
		if (!h->link || h->link->state != ZK_UP || join(h, w) != 0)
			add_young(h, w);
	}
	h->napping = h->came;
	h->came = 0;
	return h->napping ? dlk_now() + YOUNG_NS : DLK_FOREVER;
}

/* A node of ours that is being deleted takes its watch along. */
void dlki_zk_unwatch(struct zk_hub *h, struct zk_watcher *w)
{
	struct zk_watch *watch = w ? w->watch : NULL;

	if (!w)
		return;
	if (w->own && !watch && w->prev)
		drop_young(h, w);
	else
		unlink_from(w);
	if (watch && !watch->first && watch->state != ASKED) {
		if (!w->own && watch->state == SET)
			dlki_zk_unwatch_path(h, watch->path);
		forget_watch(h, watch);
	}
	free_watcher(w);
}

void dlki_zk_unwatch_ahead(struct zk_hub *h, struct zk_ticket *t)
{
	while (t->ahead) {
		struct zk_watcher *w = t->ahead;

		t->ahead = w->more;
		dlki_zk_unwatch(h, w);
	}
	t->sole = NULL;
}

void dlki_zk_watches_down(struct zk_hub *h)
{
	for (struct zk_watcher *w = h->all; w; w = w->all_next) {
		if (!w->watch || w->watch->state != SET)
			continue;
		dlki_zk_forget_path(h, w->path);
		w->watch->state = DROPPED;
	}
}

void dlki_zk_watches_up(struct zk_hub *h)
{
	for (struct zk_watcher *w = h->all; w; w = w->all_next) {
		struct zk_watch *watch = w->watch;

		if (!watch || watch->state != DROPPED)
			continue;
		watch->state = ASKED;
		if (dlki_zk_watch_path(h, watch->path, answered) != 0)
			fire(h, watch, ZK_CHANGED);
	}
}

void dlki_zk_watches_over(struct zk_hub *h)
{
	while (h->watches)
		fire(h, *(struct zk_watch **)h->watches, ZK_CHANGED);
	while (h->young)
		drop_young(h, h->young);
}

void dlki_zk_watches_free(struct zk_hub *h)
{
	dlki_zk_watches_over(h);
	while (h->all) {
		struct zk_watcher *w = h->all;

		h->all = w->all_next;
		free(w);
	}
}
