/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/watches.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/zk/frames.h"
#include "sim/zk/jute.h"

enum { EVENT_XID = -1, CONNECTED = 3 };
enum { OF_CHILDREN = 1, OF_DATA = 2, OF_ALL = 3 };

/* Returns how many there were. */
static int take(struct sim_zk_conn *c, const char *path, int of_child,
		int of_data)
{
	struct zk_watch **at = &c->watches;
	int n = 0;

	while (*at) {
		struct zk_watch *w = *at;

		if (strcmp(w->path, path) != 0 ||
		    !(w->is_child ? of_child : of_data)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
		n++;
	}
	return n;
}

void zk_watches_add(struct sim_zk_conn *c, const char *path, int is_child)
{
	struct zk_watch *w = sim_alloc(sizeof(*w));

	(void)take(c, path, is_child, !is_child);
	memcpy(w->path, path, strlen(path) + 1);
	w->is_child = is_child;
	w->next = c->watches;
	c->watches = w;
}

void zk_watches_clear(struct sim_zk_conn *c)
{
	while (c->watches) {
		struct zk_watch *w = c->watches;

		c->watches = w->next;
		free(w);
	}
}

int32_t zk_watches_remove(struct sim_zk_conn *c, const char *path, int32_t type)
{
	int n;

	if (type < OF_CHILDREN || type > OF_ALL)
		return ZK_E_ARGUMENTS;
	n = take(c, path, type != OF_DATA, type != OF_CHILDREN);
	return n > 0 ? 0 : ZK_E_NO_WATCHER;
}

void zk_watches_tell(void *server, enum zk_event event, const char *path)
{
	struct zk_server *s = server;

	for (struct sim_zk_conn *c = s->ensemble->conns; c; c = c->next) {
		size_t frame;

		if (c->server != s ||
		    !take(c, path, event == ZK_DELETED || event == ZK_CHILD,
			  event != ZK_CHILD))
			continue;
		frame = zk_frame_begin(&c->out, EVENT_XID, -1, 0);
		zk_put_int(&c->out, (int32_t)event);
		zk_put_int(&c->out, CONNECTED);
		zk_put_text(&c->out, path, (int32_t)strlen(path));
		zk_frame_end(&c->out, frame);
	}
}
