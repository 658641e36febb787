/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/data.h"
#include "backends/zk/call.h"
#include "backends/zk/queue.h"

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

void dlki_zk_data_write(struct zk_session *s, const struct zk_ticket *t)
{
	struct zk_call *call = NULL;
	char dir[ZK_PATH_SIZE], path[ZK_PATH_SIZE];
	size_t len = 0;
	char *data = dlki_zk_data_new(t, &len);

	dlki_zk_dir(s, &t->base.request, dir);
	dlki_zk_path(path, dir, t->node);
	if (data)
		call = dlki_zk_set(s, path, data, len, -1);
	dlki_zk_drop(&call, 1);
	free(data);
}

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
