/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/waiters.h"

#include <string.h>

/* ---- Waiters ------------------------------------------------------------- */

void dlki_redis_waiter_forget(struct redis_ticket *t)
{
	if (t->in_waiters.le_prev)
		LIST_REMOVE(t, in_waiters);
	t->in_waiters.le_prev = NULL;
	t->pushed.token = 0;
}

void dlki_redis_waiter_attempt(struct redis_ticket *t)
{
	struct redis_session *s = dlki_redis_session(t->base.session);

	dlki_redis_waiter_forget(t);
	t->attempt = ++s->attempts;
	t->sent = 0;
	t->busy_clock_us = 0;
	LIST_INSERT_HEAD(&s->waiters[t->attempt % RD_BUCKETS], t, in_waiters);
}

struct redis_ticket *dlki_redis_waiter_find(const struct redis_session *s,
					    uint64_t attempt)
{
	struct redis_ticket *t = LIST_FIRST(&s->waiters[attempt % RD_BUCKETS]);

	while (t && t->attempt != attempt)
		t = LIST_NEXT(t, in_waiters);
	return t;
}

/* Return when the lease of the grant message began, or earlier.  Between BUSY
 * and grant the server's clock has gone on as much as ours.  0: the clock was
 * set. */
static dlk_time pushed_since(const struct redis_ticket *t, dlk_time now)
{
	uint64_t busy_us = t->busy_clock_us, granted_us = t->pushed.clock_us;
	uint64_t left_us = (uint64_t)(now - t->sent) / 1000;

	if (busy_us == 0 || granted_us == 0)
		return t->sent;
	if (granted_us < busy_us || granted_us - busy_us > left_us)
		return 0;
	return t->sent + (dlk_time)(granted_us - busy_us) * 1000;
}

/* Take the grant, if half of the lease or more is left: otherwise another
 * attempt is better. */
int dlki_redis_waiter_take(struct redis_ticket *t)
{
	dlk_time now = dlk_now();
	uint64_t token = t->pushed.token;
	dlk_time since;

	t->pushed.token = 0;
	if (token == 0 || t->sent == 0)
		return 0;
	since = pushed_since(t, now);
	if (since == 0 || now >= since + t->pushed.lease_ms * DLK_MS / 2)
		return 0;
	t->base.token = token;
	t->base.since = since;
	t->base.lease_ms = t->pushed.lease_ms;
	return 1;
}

void dlki_redis_waiters_void(struct redis_session *s)
{
	for (size_t i = 0; i < RD_BUCKETS; i++) {
		struct redis_ticket *t;

		LIST_FOREACH(t, &s->waiters[i], in_waiters)
			t->pushed.token = 0;
	}
}

static int asks_in(const struct redis_ticket *t, enum dlki_op_state state)
{
	return t->ask && t->ask->call.base.state == state;
}

void dlki_redis_waiters_wake(struct redis_session *s)
{
	for (size_t i = 0; i < RD_BUCKETS; i++) {
		const struct redis_ticket *t;

		LIST_FOREACH(t, &s->waiters[i], in_waiters)
			dlk_wake(&s->remote.base, t->base.id);
		LIST_FOREACH(t, &s->watchers[i], in_watchers) {
			if (t->watched || asks_in(t, DLKI_OP_FLIGHT))
				dlk_wanted(&s->remote.base, t->base.id);
		}
	}
}

/* ---- Watched claims ------------------------------------------------------ */

/* Hash the owner, which is random: a few digits suffice. */
static size_t bucket_of(const char *owner)
{
	uint32_t n = 2166136261u;

	for (int i = 0; i < 8; i++)
		n = (n ^ (unsigned char)owner[i]) * 16777619u;
	return n % RD_BUCKETS;
}

void dlki_redis_watcher_add(struct redis_ticket *t)
{
	struct redis_session *s = dlki_redis_session(t->base.session);

	if (!t->in_watchers.le_prev)
		LIST_INSERT_HEAD(&s->watchers[bucket_of(t->base.request.owner)],
				 t, in_watchers);
}

void dlki_redis_watcher_forget(struct redis_ticket *t)
{
	t->watched = 0;
	if (t->in_watchers.le_prev)
		LIST_REMOVE(t, in_watchers);
	t->in_watchers.le_prev = NULL;
}

void dlki_redis_watchers_deaf(struct redis_session *s)
{
	for (size_t i = 0; i < RD_BUCKETS; i++) {
		struct redis_ticket *t;

		LIST_FOREACH(t, &s->watchers[i], in_watchers) {
			if (asks_in(t, DLKI_OP_HELD))
				dlki_cancel(&t->ask->call.base);
		}
	}
}

struct redis_ticket *dlki_redis_watcher_find(const struct redis_session *s,
					     const char *owner)
{
	struct redis_ticket *t = LIST_FIRST(&s->watchers[bucket_of(owner)]);

	while (t && strcmp(t->base.request.owner, owner) != 0)
		t = LIST_NEXT(t, in_watchers);
	return t;
}
