/* SPDX-License-Identifier: Apache-2.0 */
/* The ear: messages of the notification channel. */
#include <string.h>

#include "backends/redis/protocol/store.h"

/* After so much silence the ear asks whether the server is still there; the
 * engine's patience ends the connection if it is not. */
#define QUIET_NS (5000 * DLK_MS)

static int take_number(const char **at, uint64_t *out)
{
	const char *p = *at;

	*out = 0;
	while (*p >= '0' && *p <= '9' && p - *at < 18)
		*out = *out * 10 + (uint64_t)(*p++ - '0');
	if (p == *at)
		return 0;
	*at = p;
	return 1;
}

static int take_blank(const char **at)
{
	if (**at != ' ')
		return 0;
	++*at;
	return 1;
}

/* "OWNER ATTEMPT TOKEN CLOCK", or without the clock. */
static void take_grant(struct redis_store *s, const char *text)
{
	uint64_t id, token, clock = 0;
	const char *at = text + RD_STORE_OWNER;

	if (strspn(text, "0123456789abcdef") != RD_STORE_OWNER ||
	    !take_blank(&at) || !take_number(&at, &id) || !take_blank(&at) ||
	    !take_number(&at, &token))
		return;
	if (*at && (!take_blank(&at) || !take_number(&at, &clock) || *at))
		return;
	if (token == 0)
		dlki_wake(&s->base, id);
	else
		dlki_pushed(&s->base, id, token, clock, s->terms.lease_ms / 2);
}

int dlki_redis_store_message(struct redis_store *s,
			     const struct redis_reply *reply)
{
	const struct redis_reply *text;

	if (reply->type != RD_ARRAY || reply->len != 3 ||
	    reply->parts[0]->type != RD_STRING ||
	    strcmp(reply->parts[0]->text, "message") != 0)
		return 0;
	text = reply->parts[2];
	if (text->type == RD_STRING && strlen(text->text) == text->len)
		take_grant(s, text->text);
	return 1;
}

void dlki_redis_store_listen(struct redis_store *s, dlk_time now)
{
	struct redis_line *ear = &s->ear;

	s->base.due = DLK_FOREVER;
	if (!dlki_is_up(ear->link) || ear->greeted < ear->greetings)
		return;
	if (now >= ear->heard + QUIET_NS)
		dlki_redis_store_ping(ear);
	else
		s->base.due = ear->heard + QUIET_NS;
}
