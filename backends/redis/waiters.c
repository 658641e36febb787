/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/waiters.h"

#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/redis.h"

static struct redis_ticket **owner_bucket(struct redis_session *s,
					  const char *owner)
{
	uint32_t n = 2166136261u;

	/* Owners are random: a few digits tell them apart. */
	for (int i = 0; i < 8; i++)
		n = (n ^ (unsigned char)owner[i]) * 16777619u;
	return &s->waiters[n % RD_BUCKETS];
}

static void list_waiter(struct redis_session *s, struct redis_ticket *t)
{
	struct redis_ticket **head = owner_bucket(s, t->base.request.owner);

	t->next = *head;
	t->link = head;
	if (t->next)
		t->next->link = &t->next;
	*head = t;
	t->listed = 1;
}

static void unlist_waiter(struct redis_ticket *t)
{
	if (!t->listed)
		return;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->listed = 0;
}

/* The lease of a grant message is half a ttl.  With less than half of that left
 * another attempt is better, because it makes the lease a whole one. */
static int grant_is_usable(const struct redis_ticket *t)
{
	int64_t ttl_ms = t->base.session->ttl_ms;

	return t->granted_token &&
	       dlk_now() < t->attempt_sent + ttl_ms * DLK_MS / 4;
}

int dlki_redis_waiter_attempt(struct redis_ticket *t, uint64_t *number)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	int granted;

	pthread_mutex_lock(&s->mu);
	granted = grant_is_usable(t);
	if (granted) {
		t->base.token = t->granted_token;
		t->base.since = t->attempt_sent;
		t->base.lease_ms = s->base.ttl_ms / 2;
		unlist_waiter(t);
	} else {
		*number = ++t->attempt;
		t->attempt_sent = t->base.since;
		if (!t->listed && s->state != RD_NOTIFY_NONE)
			list_waiter(s, t);
	}
	t->granted_token = 0;
	pthread_mutex_unlock(&s->mu);
	return granted;
}

void dlki_redis_waiter_watch(struct redis_ticket *t)
{
	struct redis_session *s = (struct redis_session *)t->base.session;

	pthread_mutex_lock(&s->mu);
	if (!t->listed)
		list_waiter(s, t);
	t->watched = 1;
	pthread_mutex_unlock(&s->mu);
}

void dlki_redis_waiter_forget(struct redis_ticket *t)
{
	struct redis_session *s = (struct redis_session *)t->base.session;

	pthread_mutex_lock(&s->mu);
	unlist_waiter(t);
	t->watched = 0;
	t->granted_token = 0;
	pthread_mutex_unlock(&s->mu);
}

void dlki_redis_waiters_notify(struct redis_session *s,
			       const struct redis_notification *n)
{
	struct redis_ticket *t;
	uint64_t id = 0;
	int watched = 0;

	pthread_mutex_lock(&s->mu);
	for (t = *owner_bucket(s, n->owner); t; t = t->next) {
		if (strcmp(t->base.request.owner, n->owner) == 0)
			break;
	}
	if (t && t->watched) {
		watched = 1;
		id = t->base.id;
	} else if (t && t->attempt == n->attempt) {
		t->granted_token = n->token;
		id = t->base.id;
	}
	pthread_mutex_unlock(&s->mu);
	/* After the unlock, because the first thing the waiter does is lock. */
	if (id && watched)
		dlk_wanted(&s->base, id);
	else if (id)
		dlk_wake(&s->base, id);
}

void dlki_redis_waiters_void_grants(struct redis_session *s)
{
	for (size_t i = 0; i < RD_BUCKETS; i++) {
		for (struct redis_ticket *t = s->waiters[i]; t; t = t->next)
			t->granted_token = 0;
	}
}

void dlki_redis_waiters_wake_all(struct redis_session *s)
{
	for (size_t i = 0; i < RD_BUCKETS; i++) {
		for (struct redis_ticket *t = s->waiters[i]; t; t = t->next) {
			if (t->watched)
				dlk_wanted(&s->base, t->base.id);
			else
				dlk_wake(&s->base, t->base.id);
		}
	}
}
