/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/engine/waiters.h"

void dlki_redis2_waiter_forget(struct redis2_ticket *t)
{
	if (t->attempt == 0)
		return;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->attempt = 0;
	t->pushed.token = 0;
}

void dlki_redis2_waiter_attempt(struct redis2_ticket *t)
{
	struct redis2_session *s = (struct redis2_session *)t->base.session;
	struct redis2_ticket **head;

	dlki_redis2_waiter_forget(t);
	t->attempt = ++s->attempts;
	t->sent = 0;
	t->busy_clock_us = 0;
	head = &s->waiters[t->attempt % RD2_BUCKETS];
	t->next = *head;
	t->link = head;
	if (t->next)
		t->next->link = &t->next;
	*head = t;
}

struct redis2_ticket *dlki_redis2_waiter_find(const struct redis2_session *s,
					      uint64_t attempt)
{
	struct redis2_ticket *t = s->waiters[attempt % RD2_BUCKETS];

	while (t && t->attempt != attempt)
		t = t->next;
	return t;
}

/* When the lease of the grant message began, or earlier.  Between BUSY and grant
 * the server's clock has gone on as much as ours.  0: the clock was set. */
static dlk_time pushed_since(const struct redis2_ticket *t, dlk_time now)
{
	uint64_t busy_us = t->busy_clock_us, granted_us = t->pushed.clock_us;
	uint64_t left_us = (uint64_t)(now - t->sent) / 1000;

	if (busy_us == 0 || granted_us == 0)
		return t->sent;
	if (granted_us < busy_us || granted_us - busy_us > left_us)
		return 0;
	return t->sent + (dlk_time)(granted_us - busy_us) * 1000;
}

/* With less than half of the lease left another attempt is better. */
int dlki_redis2_waiter_take(struct redis2_ticket *t)
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

void dlki_redis2_waiters_wake(struct redis2_session *s)
{
	for (size_t i = 0; i < RD2_BUCKETS; i++) {
		for (struct redis2_ticket *t = s->waiters[i]; t; t = t->next) {
			if (!t->granted)
				dlk_wake(&s->base, t->base.id);
		}
	}
}
