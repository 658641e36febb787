/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches report every change, but waiters poll all the same.  Each client
 * polls for a single waiter in each third of the ttl, so a thousand waiters are
 * no load.
 */
#include "backends/zk/poll.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"

#define MOST 8 /* nodes to read; for more, the queue is listed */

enum dlk_verdict dlki_zk_busy(const struct zk_session *s, struct zk_ticket *t)
{
	int64_t ttl_ms = t->base.session->ttl_ms;

	t->base.look_again = dlk_now() +
			     ttl_ms * DLK_MS / 3 * (int64_t)s->watches.ahead;
	return DLK_BUSY;
}

/* The paths to read, the ticket's own node first.  0: no path to wait for, or a
 * watch has fired. */
static size_t nodes_of(const struct zk_ticket *t, const char *paths[MOST])
{
	size_t n = 0;

	if (!t->node[0] || !t->ahead || !dlki_zk_watch_stands(t->own))
		return 0;
	paths[n++] = t->own->path;
	for (const struct zk_watcher *w = t->ahead; w; w = w->more) {
		if (!dlki_zk_watch_stands(w) || n == MOST)
			return 0;
		paths[n++] = w->path;
	}
	return n;
}

int dlki_zk_poll(struct zk_session *s, const struct zk_ticket *t,
		 dlk_time deadline)
{
	struct zk_call *calls[MOST];
	const char *paths[MOST];
	size_t n = 0;
	int stands = 1;

	if (t->generation == s->generation)
		n = nodes_of(t, paths);
	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		calls[i] = dlki_zk_get(s, paths[i]);
	dlki_zk_wait(s, calls, n, deadline);
	for (size_t i = 0; i < n; i++)
		stands &= calls[i] && calls[i]->rc == ZOK;
	dlki_zk_drop(calls, n);
	return stands;
}
