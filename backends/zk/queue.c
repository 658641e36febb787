/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/queue.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

#define OWNER_LEN 32
#define SEQUENCE_LEN 10

/* Decimal digits, 1 to SEQUENCE_LEN of them; else -1. */
static int64_t parse_number(const char *digits, size_t len)
{
	int64_t n = 0;

	if (len == 0 || len > SEQUENCE_LEN)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return -1;
		n = n * 10 + (digits[i] - '0');
	}
	return n;
}

/* A server with requests for several nodes at once counts past the last number
 * into the negative numbers, until the first of the nodes is made. -1: no such
 * node. */
static int64_t sequence_of(const char *text)
{
	int past = text[0] == '-';
	const char *digits = text + past;
	int64_t n = -1;

	if (strlen(digits) == SEQUENCE_LEN)
		n = parse_number(digits, SEQUENCE_LEN);
	if (past && n > 0 && n <= -(int64_t)INT32_MIN)
		return ZK_LAST_SEQUENCE;
	return !past && n <= ZK_LAST_SEQUENCE ? n : -1;
}

uint32_t dlki_zk_beside(const char *owner)
{
	char digits[9];
	uint32_t n;

	memcpy(digits, owner, 8);
	digits[8] = '\0';
	n = (uint32_t)strtoul(digits, NULL, 16);
	return n ? n : 1;
}

int dlki_zk_parse(const char *node, struct zk_participant *out)
{
	const char *p = node + OWNER_LEN;
	int64_t limit = 0, permits = 1, sequence;
	int many = 0;
	size_t len;

	if (strspn(node, "0123456789abcdef") != OWNER_LEN || p[0] != '-' ||
	    (p[1] != 'x' && p[1] != 's'))
		return 0;
	out->node = node;
	out->entry.mode = p[1] == 'x' ? DLK_EXCLUSIVE : DLK_SHARED;
	p += 2;
	len = strcspn(p, "*-");
	if (len > 0)
		limit = parse_number(p, len);
	if (p[len] == '*') {
		many = 1;
		p += len + 1;
		len = strcspn(p, "-");
		permits = parse_number(p, len);
	}
	if (limit < 0 || limit > UINT32_MAX || permits < 1 ||
	    permits > UINT32_MAX || p[len] != '-')
		return 0;
	out->entry.limit = (uint32_t)limit;
	out->entry.permits = (uint32_t)permits;
	sequence = sequence_of(p + len + 1);
	if (sequence < 0)
		return 0;
	out->sequence = (int32_t)sequence;
	out->czxid = 0;
	out->beside = 0;
	if (many && out->entry.mode == DLK_EXCLUSIVE) {
		out->beside = out->entry.permits;
		out->entry.permits = 1;
	}
	return 1;
}

static int by_order(const void *a, const void *b)
{
	const struct zk_participant *p = a, *q = b;

	if (p->sequence != q->sequence)
		return p->sequence < q->sequence ? -1 : 1;
	if (p->czxid != q->czxid)
		return p->czxid < q->czxid ? -1 : 1;
	return 0;
}

void dlki_zk_queue_ask(struct zk_session *s, const char *dir,
		       const struct zk_participant *p, size_t n,
		       struct zk_call *calls[])
{
	char path[ZK_PATH_SIZE];

	for (size_t i = 0; i < n; i++) {
		dlki_zk_path(path, dir, p[i].node);
		calls[i] = dlki_zk_get(s, path);
	}
}

/* All nodes made after the last number have that number.  Their creating
 * transactions give the order.  Nodes gone since are left out. */
static int break_ties(struct zk_session *s, struct zk_queue *queue,
		      const char *dir, dlk_time deadline, struct dlk_error *err)
{
	size_t first = queue->n, n, left;
	struct zk_call **calls;
	int rc = 0;

	while (first > 0 && queue->v[first - 1].sequence == ZK_LAST_SEQUENCE)
		first--;
	n = queue->n - first;
	if (n == 0)
		return 0;
	calls = calloc(n, sizeof(struct zk_call *));
	if (!calls)
		return dlki_nomem(err);
	left = first;
	dlki_zk_queue_ask(s, dir, queue->v + first, n, calls);
	dlki_zk_wait(s, calls, n, deadline);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (calls[i] && calls[i]->rc == ZNONODE)
			continue;
		rc = dlki_zk_reason(calls[i], "reading a node", err);
		if (rc != 0)
			break;
		queue->v[left] = queue->v[first + i];
		queue->v[left++].czxid = calls[i]->stat.czxid;
	}
	dlki_zk_drop(calls, n);
	free(calls);
	queue->n = left;
	qsort(queue->v + first, left - first, sizeof(*queue->v), by_order);
	return rc;
}

int dlki_zk_queue_from(struct zk_session *s, struct zk_queue *out,
		       const char *dir, const struct zk_call *children,
		       dlk_time deadline, struct dlk_error *err)
{
	int rc = 0;

	*out = (struct zk_queue){ 0 };
	out->v = calloc(children->n + 1, sizeof(*out->v));
	out->entries = calloc(children->n + 1, sizeof(*out->entries));
	if (!out->v || !out->entries)
		rc = dlki_nomem(err);
	for (size_t i = 0; i < children->n && rc == 0; i++)
		out->n += dlki_zk_parse(children->names[i], &out->v[out->n]) !=
			  0;
	if (rc == 0) {
		qsort(out->v, out->n, sizeof(*out->v), by_order);
		rc = break_ties(s, out, dir, deadline, err);
	}
	if (rc != 0) {
		dlki_zk_queue_free(out);
		return rc;
	}
	for (size_t i = 0; i < out->n; i++)
		out->entries[i] = out->v[i].entry;
	return 0;
}

void dlki_zk_queue_free(struct zk_queue *queue)
{
	free(queue->v);
	free(queue->entries);
	dlki_zk_drop(&queue->listing, 1);
	*queue = (struct zk_queue){ 0 };
}

/* Is the reader the only participant ahead? */
static int has_only_reader(const struct zk_queue *queue, size_t ahead,
			   uint32_t reader)
{
	const struct zk_participant *p = queue->v;

	return ahead == 1 && p->entry.mode == DLK_SHARED &&
	       dlki_zk_beside(p->node) == reader;
}

uint32_t dlki_zk_queue_limit(const struct zk_queue *queue)
{
	if (queue->limit.set > 0 || queue->n == 0)
		return queue->limit.set;
	return queue->v[0].entry.limit;
}

int dlki_zk_queue_is_served(const struct zk_queue *queue, size_t i)
{
	const struct zk_participant *p = &queue->v[i];
	const struct zk_limit *limit = &queue->limit;

	if (limit->set == 0)
		return 0;
	return p->sequence == ZK_LAST_SEQUENCE ?
		       p->czxid <= limit->served_czxid :
		       p->sequence <= limit->served;
}

int dlki_zk_queue_waits(const struct zk_queue *queue, size_t i)
{
	const struct zk_participant *p = &queue->v[i];
	struct dlk_queue_entry me = p->entry;

	if (dlki_zk_queue_is_served(queue, i))
		return 0;
	me.limit = dlki_zk_queue_limit(queue);
	return dlk_grant(queue->entries, i, me) >= 0 &&
	       !(p->beside != 0 && has_only_reader(queue, i, p->beside));
}

uint32_t dlki_zk_hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ^ hash >> 16;
}

static size_t append_text(char out[ZK_PATH_SIZE], size_t at, const char *text)
{
	size_t len = strnlen(text, ZK_PATH_SIZE - 1 - at);

	memcpy(out + at, text, len);
	out[at + len] = '\0';
	return at + len;
}

/* Called several times for each acquire: snprintf() would show. */
void dlki_zk_path(char out[ZK_PATH_SIZE], const char *dir, const char *node)
{
	size_t len = append_text(out, 0, dir);

	len = append_text(out, len, "/");
	append_text(out, len, node);
}

void dlki_zk_dir(const struct zk_session *s, const struct dlk_request *request,
		 char out[ZK_PATH_SIZE])
{
	dlki_zk_path(out, s->config.base, request->key);
}
