/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/sessions.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/memory.h"

int32_t zk_sessions_limit(const struct zk_sessions *s, int32_t timeout_ms)
{
	if (timeout_ms < s->min_ms)
		return s->min_ms;
	return timeout_ms > s->max_ms ? s->max_ms : timeout_ms;
}

void zk_sessions_touch(const struct zk_sessions *s, struct zk_session *one,
		       int64_t up_ms)
{
	int64_t over = ((up_ms + one->timeout_ms) / s->tick_ms + 1) *
		       s->tick_ms;

	if (over > one->over_ms)
		one->over_ms = over;
}

struct zk_session *zk_sessions_add(struct zk_sessions *s, int32_t timeout_ms,
				   int64_t up_ms)
{
	struct zk_session *one = sim_alloc(sizeof(*one));

	one->id = ++s->last_id;
	one->timeout_ms = zk_sessions_limit(s, timeout_ms);
	snprintf(one->password, ZK_PASSWORD, "p%llx", (long long)one->id);
	one->next = s->v;
	s->v = one;
	zk_sessions_touch(s, one, up_ms);
	return one;
}

struct zk_session *zk_sessions_find(const struct zk_sessions *s, int64_t id)
{
	struct zk_session *one = s->v;

	while (one && one->id != id)
		one = one->next;
	return one;
}

void zk_sessions_remove(struct zk_sessions *s, int64_t id)
{
	struct zk_session *one = zk_sessions_find(s, id), **at = &s->v;

	if (!one)
		return;
	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	free(one);
}

void zk_sessions_copy(struct zk_sessions *to, const struct zk_sessions *from)
{
	struct zk_session **last = &to->v;

	*to = *from;
	for (const struct zk_session *i = from->v; i; i = i->next) {
		*last = sim_alloc(sizeof(**last));
		**last = *i;
		last = &(*last)->next;
	}
	*last = NULL;
}

void zk_sessions_free(struct zk_sessions *s)
{
	while (s->v)
		zk_sessions_remove(s, s->v->id);
}

const struct zk_session *zk_sessions_first(const struct zk_sessions *s)
{
	const struct zk_session *first = s->v;

	for (const struct zk_session *i = s->v; i; i = i->next) {
		if (i->over_ms < first->over_ms)
			first = i;
	}
	return first;
}
