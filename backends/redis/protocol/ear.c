/* SPDX-License-Identifier: Apache-2.0 */
/* The ear: messages of the notification channel. */
#include <string.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"

/* After this much silence the ear asks whether the server is still there; if
 * not, the engine's patience ends the connection. */
#define QUIET_NS (5000 * DLK_MS)

/* "OWNER 0 0" comes to a client that watches the owner's claim. */
static void take_news(struct redis_store *s, const struct redis_notification *n)
{
	if (n->token != 0)
		dlki_pushed(&s->base, n->attempt, n->token, n->clock_us,
			    s->agreed.lease_ms / 2);
	else if (n->attempt != 0)
		dlki_wake(&s->base, n->attempt);
	else
		dlki_wanted(&s->base, n->owner);
}

int dlki_redis_store_message(struct redis_store *s,
			     const struct redis_reply *reply)
{
	struct redis_notification n;

	if (dlki_redis_notification(reply, &n))
		take_news(s, &n);
	else
		return reply->type == RD_ARRAY && reply->len == 3 &&
		       reply->parts[0]->type == RD_STRING &&
		       strcmp(reply->parts[0]->text, "message") == 0;
	return 1;
}

void dlki_redis_store_listen(struct redis_store *s)
{
	struct redis_line *ear = &s->ear;

	s->base.due = DLK_FOREVER;
	if (!dlki_is_up(ear->link) || ear->greeted < ear->greetings)
		return;
	dlki_resume(&s->base);
	if (s->now >= ear->heard + QUIET_NS)
		dlki_redis_store_ping(ear);
	else
		s->base.due = ear->heard + QUIET_NS;
}
