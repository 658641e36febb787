/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory's data has the set number, behind the name and a NUL, and how
 * far the queue had the lock when an operator set the number.  The number
 * counts while a carrier stands: a node older than the number, or marked as a
 * carrier by the data.  A client that joins later writes the mark in a
 * transaction, with two checks: another carrier stands, and the directory's
 * data is the data read before.  So after the last carrier there is never a
 * carrier again, and all clients agree that the number is over.
 *
 * A client takes no lock and begins no wait before the node is a carrier.  So
 * the number ends with the last holder and waiter, and not before.
 */
#include "backends/zk/limit.h"
#include "backends/zk/call.h"
#include "backends/zk/data.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_SIZE 360 /* limit, name, NUL, set number, place */
#define FIRST 4       /* nodes read at once, one of them mostly a carrier */
#define BATCH 16      /* ... and then */

/* Find the set number in the directory's data. */
static void parse(const struct zk_call *directory, struct zk_limit *out)
{
	const char *data = directory->data;
	size_t at = data ? strlen(data) + 1 : 0;
	char *rest;

	if (!data || at >= directory->data_len)
		return;
	out->set = (uint32_t)strtoul(data + at, &rest, 10);
	out->served = (int32_t)strtol(rest, &rest, 10);
	out->served_czxid = strtoll(rest, NULL, 10);
}

/* There is no carrier: remove the number, unless there is another already. */
static void forget_number(struct zk_session *s, const char *dir,
			  const struct zk_call *directory)
{
	struct zk_call *call = dlki_zk_set(s, dir, directory->data,
					   strlen(directory->data),
					   directory->stat.version);

	dlki_zk_drop(&call, 1);
}

static int is_carrier(const struct zk_queue *queue, const struct zk_call *node)
{
	return node->stat.czxid < queue->limit.since ||
	       dlki_zk_data_carries(node);
}

static int judge_directory(struct zk_limit *limit,
			   const struct zk_call *directory,
			   struct dlk_error *err)
{
	int rc;

	if (directory && directory->rc == ZNONODE)
		return 1;
	rc = dlki_zk_reason(directory, "reading the number of permits", err);
	if (rc != 0)
		return rc;
	if (directory->stat.version != limit->version)
		return 1;
	parse(directory, limit);
	return 0;
}

/* Find the first carrier among `n` participants from `at` on.  Returns 0, an
 * error, or 1: no carrier was found, and a participant has gone. */
static int judge_nodes(struct zk_queue *queue, size_t at, size_t n,
		       struct zk_call *const nodes[], struct dlk_error *err)
{
	int gone = 0;

	for (size_t i = 0; i < n; i++) {
		int rc;

		if (nodes[i] && nodes[i]->rc == ZNONODE) {
			gone = 1;
			continue;
		}
		rc = dlki_zk_reason(nodes[i], "reading a node", err);
		if (rc != 0)
			return rc;
		if (is_carrier(queue, nodes[i])) {
			queue->limit.carrier = at + i;
			return 0;
		}
	}
	return gone;
}

/*
 * The servers answer in the order of the requests, so the directory is read
 * behind the nodes.  With the listing's version, no other number was set before
 * the last node was read.
 *
 * A carrier stays a carrier, and there is no carrier after the last.  So a
 * carrier shows that the number counted at the listing, whichever nodes have
 * gone since.  Without a carrier among the listed nodes, all read, there was no
 * carrier at the listing, and the number is over.  A missing node may have been
 * the last carrier.
 */
int dlki_zk_limit_find(struct zk_session *s, struct zk_queue *queue,
		       const char *dir, const struct zk_call *children,
		       dlk_time deadline, struct dlk_error *err)
{
	struct zk_limit *limit = &queue->limit;
	struct zk_call *calls[BATCH + 1];
	size_t most = FIRST;
	int rc = 0, over = 0;

	*limit = (struct zk_limit){ .version = children->stat.version,
				    .since = children->stat.mzxid,
				    .carrier = queue->n };
	if (limit->version == 0)
		return 0;
	for (size_t at = 0, n; at < queue->n && !over; at += n, most = BATCH) {
		n = queue->n - at < most ? queue->n - at : most;
		dlki_zk_queue_ask(s, dir, queue->v + at, n, calls);
		calls[n] = dlki_zk_get(s, dir);
		dlki_zk_wait(s, calls, n + 1, deadline);
		rc = judge_directory(limit, calls[n], err);
		if (rc == 0 && limit->set > 0)
			rc = judge_nodes(queue, at, n, calls, err);
		over = rc != 0 || limit->set == 0 || limit->carrier < queue->n;
		if (!over && at + n == queue->n) {
			forget_number(s, dir, calls[n]);
			limit->set = 0;
		}
		dlki_zk_drop(calls, n + 1);
	}
	return rc;
}

/* ---- Transactions -------------------------------------------------------- */

/* Do `write`, if a node stands and the directory has the listing's version.
 * Returns 0, an error, or 1 if not. */
static int write_if(struct zk_session *s, const struct zk_queue *queue,
		    const char *dir, size_t node, const zoo_op_t *write,
		    dlk_time deadline, struct dlk_error *err)
{
	char standing[ZK_PATH_SIZE];
	struct zk_call *call;
	zoo_op_t ops[3];
	int rc = 1;

	dlki_zk_path(standing, dir, queue->v[node].node);
	zoo_check_op_init(&ops[0], standing, -1);
	zoo_check_op_init(&ops[1], dir, queue->limit.version);
	ops[2] = *write;
	call = dlki_zk_multi(s, dir, ops, 3);
	dlki_zk_wait(s, &call, 1, deadline);
	if (!call || (call->rc != ZNONODE && call->rc != ZBADVERSION))
		rc = dlki_zk_reason(call, "the number of permits", err);
	dlki_zk_drop(&call, 1);
	return rc;
}

int dlki_zk_limit_carry(struct zk_attempt *a, const struct zk_queue *queue)
{
	const struct zk_limit *limit = &queue->limit;
	struct zk_ticket *t = a->t;
	char path[ZK_PATH_SIZE], *data;
	zoo_op_t write;
	size_t len;
	int rc;

	if (limit->set == 0 || t->carries || t->czxid < limit->since)
		return 0;
	t->carries = 1;
	data = dlki_zk_data_new(t, &len);
	if (!data)
		return dlki_nomem(a->err);
	dlki_zk_path(path, a->dir, t->node);
	zoo_set_op_init(&write, path, data, (int)len, -1, NULL);
	rc = write_if(a->s, queue, a->dir, limit->carrier, &write, a->deadline,
		      a->err);
	t->carries = rc == 0;
	free(data);
	return rc;
}

/* Find the last holder's node. */
static struct zk_limit last_served(const struct zk_queue *queue)
{
	struct zk_limit last = { .served = -1 };

	for (size_t i = 0; i < queue->n && !dlki_zk_queue_waits(queue, i);
	     i++) {
		if (queue->v[i].sequence < ZK_LAST_SEQUENCE)
			last.served = queue->v[i].sequence;
		else
			last.served_czxid = queue->v[i].czxid;
	}
	return last;
}

int dlki_zk_limit_set(struct zk_session *s, const struct zk_queue *queue,
		      const char *dir, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err)
{
	struct zk_limit last = last_served(queue);
	char data[DATA_SIZE];
	zoo_op_t write;
	size_t len = (size_t)snprintf(data, sizeof(data), "%u %s",
				      queue->v[0].entry.limit, request->name);

	len += 1 + (size_t)snprintf(data + len + 1, sizeof(data) - len - 1,
				    "%u %" PRId32 " %" PRId64, request->limit,
				    last.served, last.served_czxid);
	zoo_set_op_init(&write, dir, data, (int)len, -1, NULL);
	return write_if(s, queue, dir, queue->n - 1, &write, deadline, err);
}
