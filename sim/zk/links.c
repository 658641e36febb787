/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/links.h"

#include <stdlib.h>

#include "sim/base/memory.h"

void zk_link_begin(struct zk_link *l)
{
	*l = (struct zk_link){ .last = &l->first };
}

struct zk_message *zk_link_put(struct zk_link *l, enum zk_kind kind,
			       uint64_t conn, int64_t at_us)
{
	struct zk_message *m = sim_alloc(sizeof(*m));

	l->last_us = at_us > l->last_us ? at_us : l->last_us;
	m->kind = kind;
	m->conn = conn;
	m->at_us = l->last_us;
	*l->last = m;
	l->last = &m->next;
	return m;
}

int64_t zk_link_due(const struct zk_link *l)
{
	int64_t at_us = l->first ? l->first->at_us : INT64_MAX;

	return at_us >= l->held_from_us && at_us < l->held_us ? l->held_us :
								at_us;
}

struct zk_message *zk_link_take(struct zk_link *l)
{
	struct zk_message *m = l->first;

	l->first = m->next;
	if (!l->first)
		l->last = &l->first;
	return m;
}

void zk_link_clear(struct zk_link *l)
{
	while (l->first)
		free(zk_link_take(l));
}
