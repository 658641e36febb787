/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/call.h"
#include "backends/zk/data.h"
#include "backends/zk/listing.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 64

static void report_participant(
	const struct zk_queue *queue, size_t i, const struct zk_call *node,
	void (*each)(const struct dlock_participant *p, void *arg), void *arg)
{
	const struct zk_participant *p = &queue->v[i];
	int waiting = dlki_zk_queue_waits(queue, i);
	struct dlock_participant shown = {
		.size = sizeof(shown),
		.label = node->data ? node->data : "",
		.id = p->node,
		.token = waiting ? 0 : dlki_zk_data_token(node),
		.remaining_ms = -1,
		.shared = p->entry.mode == DLK_SHARED,
		.waiting = waiting,
		.permits = p->entry.limit > 0 ? p->entry.permits : 0,
		.limit = dlki_zk_queue_limit(queue),
	};

	shown.since_ms = (int64_t)(shown.token / 1000);
	each(&shown, arg);
}

static int report_participants(
	struct zk_session *s, const char *dir, const struct zk_queue *queue,
	void (*each)(const struct dlock_participant *p, void *arg), void *arg,
	dlk_time deadline, struct dlk_error *err)
{
	struct zk_call *calls[BATCH];
	int rc = 0;

	for (size_t at = 0; at < queue->n && rc == 0; at += BATCH) {
		size_t n = queue->n - at < BATCH ? queue->n - at : BATCH;

		dlki_zk_queue_ask(s, dir, queue->v + at, n, calls);
		dlki_zk_wait(s, calls, n, deadline);
		for (size_t i = 0; i < n && rc == 0; i++) {
			if (calls[i] && calls[i]->rc == ZNONODE)
				continue; /* it went meanwhile */
			rc = dlki_zk_reason(calls[i], "reading", err);
			if (rc == 0)
				report_participant(queue, at + i, calls[i],
						   each, arg);
		}
		dlki_zk_drop(calls, n);
	}
	return rc;
}

/* How many holders there are, which are the first. */
static size_t first_waiter(const struct zk_queue *queue)
{
	size_t n = 0;

	while (n < queue->n && !dlki_zk_queue_waits(queue, n))
		n++;
	return n;
}

int dlki_zk_inspect(struct dlk_session *base, const struct dlk_request *request,
		    void (*each)(const struct dlock_participant *p, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base);
	struct zk_queue queue;
	char dir[ZK_PATH_SIZE];
	int rc = dlki_zk_enter(s, deadline, err);

	if (rc != 0)
		return rc;
	dlki_zk_dir(s, request, dir);
	rc = dlki_zk_listing_read(s, dir, &queue, deadline, err);
	if (rc == 0) {
		if (request->holders_only)
			queue.n = first_waiter(&queue);
		rc = report_participants(s, dir, &queue, each, arg, deadline,
					 err);
		dlki_zk_queue_free(&queue);
	}
	dlki_zk_leave(s);
	return rc;
}

/* Delete the nodes of all holders at once. */
static int delete_holders(struct zk_session *s, const char *dir,
			  const struct zk_queue *queue, dlk_time deadline,
			  struct dlk_error *err)
{
	struct zk_call **calls = calloc(queue->n + 1, sizeof(struct zk_call *));
	char path[ZK_PATH_SIZE];
	size_t n = 0;
	int rc = 0;

	if (!calls)
		return dlki_nomem(err);
	for (size_t end = first_waiter(queue); n < end; n++) {
		dlki_zk_path(path, dir, queue->v[n].node);
		calls[n] = dlki_zk_delete(s, path);
	}
	dlki_zk_wait(s, calls, n, deadline);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (!calls[i] || calls[i]->rc != ZNONODE)
			rc = dlki_zk_reason(calls[i], "deleting", err);
	}
	dlki_zk_drop(calls, n);
	free(calls);
	return rc;
}

int dlki_zk_break(struct dlk_session *base, const struct dlk_request *request,
		  dlk_time deadline, struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base);
	struct zk_queue queue;
	char dir[ZK_PATH_SIZE];
	int rc = dlki_zk_enter(s, deadline, err);

	if (rc != 0)
		return rc;
	dlki_zk_dir(s, request, dir);
	rc = dlki_zk_listing_read(s, dir, &queue, deadline, err);
	if (rc == 0) {
		rc = delete_holders(s, dir, &queue, deadline, err);
		dlki_zk_queue_free(&queue);
	}
	dlki_zk_leave(s);
	return rc;
}

/* ---- Listing the locks --------------------------------------------------- */

static const char *kind_of(const char *key)
{
	switch (key[0]) {
	case 'l':
		return "lock";
	case 's':
		return "semaphore";
	default:
		return NULL;
	}
}

/* The nodes of a semaphore say how many permits it has.  Without nodes, and
 * while the queue changes, the directory's data does. */
static int find_permits(struct zk_session *s, const char *dir,
			const struct zk_call *nodes, uint32_t otherwise,
			uint32_t *out, dlk_time deadline, struct dlk_error *err)
{
	struct zk_queue queue;
	int rc = dlki_zk_listing_queue(s, &queue, dir, nodes, deadline, err);

	*out = otherwise;
	if (rc != 0)
		return rc > 0 ? 0 : rc;
	if (queue.n > 0)
		*out = dlki_zk_queue_limit(&queue);
	dlki_zk_queue_free(&queue);
	return 0;
}

/* The questions about a lock: for the data, and for a semaphore's nodes. */
enum { DATA, NODES, QUESTIONS };

static void ask_about(struct zk_session *s, const char *key,
		      struct zk_call *calls[QUESTIONS])
{
	char path[ZK_PATH_SIZE];

	dlki_zk_path(path, s->config.base, key);
	calls[DATA] = dlki_zk_get(s, path);
	if (key[0] == 's')
		calls[NODES] = dlki_zk_children(s, path);
}

static int report_lock(struct zk_session *s, const char *key,
		       struct zk_call *const calls[QUESTIONS],
		       void (*each)(const struct dlock_lock_info *e, void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlock_lock_info e = { .size = sizeof(e), .kind = kind_of(key) };
	const struct zk_call *data = calls[DATA], *nodes = calls[NODES];
	unsigned long limit = 0;
	char *end = NULL;
	int rc = 0;

	if ((data && data->rc == ZNONODE) || (nodes && nodes->rc == ZNONODE))
		return 0; /* it went meanwhile */
	rc = dlki_zk_reason(data, "listing", err);
	if (rc == 0 && key[0] == 's')
		rc = dlki_zk_reason(nodes, "listing", err);
	if (rc != 0 || !data->data)
		return rc;
	limit = strtoul(data->data, &end, 10);
	if (end == data->data || *end != ' ')
		return 0;
	e.name = end + 1;
	if (key[0] == 's')
		rc = find_permits(s, data->path, nodes, (uint32_t)limit,
				  &e.permits, deadline, err);
	if (rc == 0)
		each(&e, arg);
	return rc;
}

/* Report up to BATCH of the `keys` from `*at` on, all asked for at once. */
static int list_batch(struct zk_session *s, const struct zk_call *keys,
		      size_t *at,
		      void (*each)(const struct dlock_lock_info *e, void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct zk_call *calls[QUESTIONS * BATCH] = { NULL };
	const char *asked[BATCH];
	size_t n = 0;
	int rc = 0;

	for (; *at < keys->n && n < BATCH; ++*at) {
		const char *key = keys->names[*at];

		if (!kind_of(key) || strlen(key) > 64)
			continue;
		ask_about(s, key, calls + QUESTIONS * n);
		asked[n++] = key;
	}
	dlki_zk_wait(s, calls, QUESTIONS * n, deadline);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = report_lock(s, asked[i], calls + QUESTIONS * i, each, arg,
				 deadline, err);
	dlki_zk_drop(calls, QUESTIONS * n);
	return rc;
}

int dlki_zk_list(struct dlk_session *base,
		 void (*each)(const struct dlock_lock_info *e, void *arg),
		 void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base);
	struct zk_call *keys;
	size_t at = 0;
	int rc = dlki_zk_enter(s, deadline, err);

	if (rc != 0)
		return rc;
	keys = dlki_zk_children(s, s->config.base);
	dlki_zk_wait(s, &keys, 1, deadline);
	if (!keys || keys->rc != ZNONODE)
		rc = dlki_zk_reason(keys, "listing", err);
	while (rc == 0 && at < keys->n)
		rc = list_batch(s, keys, &at, each, arg, deadline, err);
	dlki_zk_drop(&keys, 1);
	dlki_zk_leave(s);
	return rc;
}
