/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/data.h"
#include "backends/zk/call.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <dlock/backend.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX 240 /* a node has room for a megabyte at most */
#define TRY " try"
#define CARRIES " set"

char *dlki_zk_data_new(const struct zk_ticket *t, size_t *len)
{
	const char *label = t->base.request.label;
	size_t n = dlk_utf8_clip(label, LABEL_MAX), at = n + 1, size = at + 32;
	char *data = malloc(size);

	if (!data)
		return NULL;
	memcpy(data, label, n);
	data[n] = '\0';
	*len = at + (size_t)snprintf(data + at, size - at, "%" PRId64 "%s%s",
				     t->above, t->as_try ? TRY : "",
				     t->carries ? CARRIES : "");
	return data;
}

/* ---- Writing ------------------------------------------------------------- */

/* No other claim ever has a node of this name. */
struct zk_data {
	TAILQ_ENTRY(zk_data) in_all;
	char *text;
	size_t len;
	char path[ZK_PATH_SIZE];
};

static void forget(struct zk_session *s, struct zk_data *d)
{
	TAILQ_REMOVE(&s->unanswered, d, in_all);
	free(d->text);
	free(d);
}

static void note_written(struct zk_session *s, struct zk_call *call)
{
	struct zk_data *d = TAILQ_FIRST(&s->unanswered);

	while (d && strcmp(d->path, call->path) != 0)
		d = TAILQ_NEXT(d, in_all);
	if (d && dlki_zk_answered(call->rc))
		forget(s, d);
}

static void send_data(struct zk_session *s, const struct zk_data *d)
{
	struct zk_call *call = dlki_zk_set(s, d->path, d->text, d->len, -1);

	if (call)
		call->then = note_written;
	dlki_zk_drop(&call, 1);
}

void dlki_zk_data_write(struct zk_session *s, const struct zk_ticket *t)
{
	struct zk_data *d = calloc(1, sizeof(*d));
	char dir[ZK_PATH_SIZE];

	if (d)
		d->text = dlki_zk_data_new(t, &d->len);
	if (!d || !d->text) {
		free(d);
		return;
	}
	dlki_zk_dir(s, &t->base.request, dir);
	dlki_zk_path(d->path, dir, t->node);
	TAILQ_INSERT_TAIL(&s->unanswered, d, in_all);
	send_data(s, d);
}

void dlki_zk_data_up(struct zk_session *s)
{
	struct zk_data *d;

	TAILQ_FOREACH(d, &s->unanswered, in_all)
		send_data(s, d);
}

void dlki_zk_data_over(struct zk_session *s)
{
	struct zk_data *d = TAILQ_FIRST(&s->unanswered), *next;

	for (; d; d = next) {
		next = TAILQ_NEXT(d, in_all);
		forget(s, d);
	}
}

/* ---- Reading ------------------------------------------------------------- */

/* The number behind the label, and the rest behind the number; or NULL. */
static const char *number_of(const struct zk_call *node, int64_t *out)
{
	size_t at = node->data ? strlen(node->data) + 1 : node->data_len;
	char *rest;

	if (at >= node->data_len)
		return NULL;
	*out = strtoll(node->data + at, &rest, 10);
	return rest;
}

uint64_t dlki_zk_data_token(const struct zk_call *node)
{
	int64_t above = 0;

	number_of(node, &above);
	return (uint64_t)above + (uint64_t)node->stat.czxid;
}

int dlki_zk_data_is_try(const struct zk_call *node)
{
	int64_t above;
	const char *rest = number_of(node, &above);

	return rest && strstr(rest, TRY);
}

int dlki_zk_data_carries(const struct zk_call *node)
{
	int64_t above;
	const char *rest = number_of(node, &above);

	return rest && strstr(rest, CARRIES);
}
