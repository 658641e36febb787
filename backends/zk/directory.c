/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server says only that the children of a directory have changed, once for
 * each listing with a watch, before it answers the request that made the
 * change.  So if no request of ours for this directory is unanswered, another
 * session asks, or has asked before and gives up.
 *
 * Else there is another listing, which leaves the next watch.  A try may come
 * and go before the listing.  So the count of all nodes ever made in the
 * directory decides, which the directory's stat tells, not the present nodes.
 * The answers to our own requests come in order: when a listing is there, all
 * our nodes made before it are counted.  The rest were made by other sessions.
 */
#include "backends/zk/directory.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Once the numbers for nodes are used up, the stat counts no further. */
#define NO_MORE_MADE ((uint32_t)ZK_LAST_SEQUENCE)

enum directory_state {
	BEGINS, /* the first listing is not there yet */
	WATCHED,
	TOLD /* another session asks */
};

struct zk_directory {
	struct zk_directory *next; /* in the bucket */
	uint64_t id;               /* of the claim's ticket */
	enum directory_state state;
	const struct zk_call *asked; /* the listing under way, or NULL */
	uint32_t made;           /* all nodes ever made, at the first listing */
	uint32_t own;            /* ... and by this session since */
	char node[ZK_NODE_SIZE]; /* the claim's */
	char path[];
};

/* `len` bytes of the path count. */
static struct zk_directory **find(struct zk_session *s, const char *path,
				  size_t len)
{
	uint32_t place = dlki_zk_hash(path, len) % ZK_DIRECTORY_BUCKETS;
	struct zk_directory **at = &s->directories.bucket[place];

	while (*at && (strncmp((*at)->path, path, len) != 0 ||
		       (*at)->path[len] != '\0'))
		at = &(*at)->next;
	return at;
}

static void tell(struct zk_session *s, struct zk_directory *d)
{
	d->state = TOLD;
	d->asked = NULL;
	if (s->core)
		dlk_wanted(s->core, d->id);
}

/* ---- Listings ------------------------------------------------------------ */

static void on_change(zhandle_t *zh, int type, int state, const char *path,
		      void *session);

/* The number of changes in a stat is twice the nodes made, less the present
 * nodes. */
static uint32_t made_in(const struct Stat *stat)
{
	return ((uint32_t)stat->cversion + (uint32_t)stat->numChildren) / 2;
}

static int has_node(const struct zk_call *listing, const char *node)
{
	for (size_t i = 0; i < listing->n; i++) {
		if (strcmp(listing->names[i], node) == 0)
			return 1;
	}
	return 0;
}

/* Another client made a node, or deleted ours, perhaps with the directory. */
static int others_came(const struct zk_directory *d,
		       const struct zk_call *listing)
{
	uint32_t made = made_in(&listing->stat);

	return made - d->made != d->own || made == NO_MORE_MADE ||
	       !has_node(listing, d->node);
}

static void on_listed(struct zk_session *s, struct zk_call *call)
{
	struct zk_directory *d = *find(s, call->path, strlen(call->path));

	if (!d || d->asked != call)
		return;
	d->asked = NULL;
	if (call->rc != ZOK) {
		tell(s, d);
	} else if (d->state == BEGINS) {
		d->state = WATCHED;
		d->made = made_in(&call->stat);
		d->own = 0;
	} else if (others_came(d, call)) {
		tell(s, d);
	}
}

static struct zk_call *list(struct zk_session *s, struct zk_directory *d)
{
	struct zk_call *call = dlki_zk_children_watched(s, d->path, on_change,
							on_listed);

	d->asked = call;
	if (!call || call->done)
		tell(s, d);
	return call;
}

/* Is a request of ours under way to make or delete a node there? */
static int is_changing(const struct zk_session *s, const struct zk_directory *d)
{
	const struct zk_call *c = s->conn ? LIST_FIRST(&s->conn->calls) : NULL;
	size_t len = strlen(d->path);

	for (; c; c = LIST_NEXT(c, in_calls)) {
		if (c->write && strncmp(c->path, d->path, len) == 0 &&
		    c->path[len] == '/')
			return 1;
	}
	return 0;
}

/* A listing under way when this event comes was made after the change. */
static void on_change(zhandle_t *zh, int type, int state, const char *path,
		      void *session)
{
	struct zk_session *s = session;
	struct zk_directory *d;
	struct zk_call *call;

	(void)zh;
	(void)state;
	if (type == ZOO_SESSION_EVENT)
		return;
	d = *find(s, path, strlen(path));
	if (!d || d->asked || d->state == TOLD)
		return;
	if (!is_changing(s, d)) {
		tell(s, d);
		return;
	}
	call = list(s, d);
	dlki_zk_drop(&call, 1);
}

void dlki_zk_directories_joined(struct zk_session *s, struct zk_call *create)
{
	struct zk_directory *d;

	if (s->directories.n == 0 || create->rc != ZOK)
		return;
	d = *find(s, create->path,
		  (size_t)(strrchr(create->path, '/') - create->path));
	if (d)
		d->own++;
}

/* ---- From watch to release ----------------------------------------------- */

/* For the end of the bucket. */
static struct zk_directory *new_directory(struct zk_session *s,
					  const struct zk_ticket *t,
					  const char *path)
{
	size_t size = strlen(path) + 1;
	struct zk_directory *d =
		calloc(1, offsetof(struct zk_directory, path) + size);

	if (!d)
		return NULL;
	d->id = t->base.id;
	memcpy(d->node, t->node, sizeof(d->node));
	memcpy(d->path, path, size);
	s->directories.n++;
	return d;
}

static void forget(struct zk_session *s, struct zk_directory **at)
{
	struct zk_directory *d = *at;

	*at = d->next;
	s->directories.n--;
	free(d);
}

struct zk_call *dlki_zk_directory_watch(struct zk_session *s,
					struct zk_ticket *t)
{
	struct zk_directory **at;
	char path[ZK_PATH_SIZE];

	dlki_zk_dir(s, &t->base.request, path);
	at = find(s, path, strlen(path));
	if (*at && (*at)->id != t->base.id) {
		tell(s, *at); /* the claim is no more */
		forget(s, at);
		at = find(s, path, strlen(path));
	}
	if (!*at)
		*at = new_directory(s, t, path);
	if (!*at)
		return NULL;
	/* The caller sees the participants of now. */
	if ((*at)->state == TOLD)
		(*at)->state = BEGINS;
	return list(s, *at);
}

void dlki_zk_directory_drop(struct zk_session *s, struct zk_ticket *t)
{
	struct zk_directory **at;
	char path[ZK_PATH_SIZE];

	if (s->directories.n == 0)
		return;
	dlki_zk_dir(s, &t->base.request, path);
	at = find(s, path, strlen(path));
	if (*at && (*at)->id == t->base.id)
		forget(s, at);
}

void dlki_zk_directories_down(struct zk_session *s)
{
	for (size_t i = 0; i < ZK_DIRECTORY_BUCKETS; i++) {
		struct zk_directory *d = s->directories.bucket[i];

		for (; d; d = d->next)
			tell(s, d);
	}
}
