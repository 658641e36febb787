/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digits.h"

/* Larger numbers make no sense: a script's numbers are exact up to here. */
#define MOST INT64_C(9007199254740991)

/* Decimal digits from *at on, at least one and below 2^53; moves *at. */
static int parse_number(const char **at, uint64_t *out)
{
	const char *end = dlki_digits_read(*at, out);

	if (end == *at || *out > (uint64_t)MOST)
		return 0;
	*at = end;
	return 1;
}

static int parse_owner(const char **at, char out[33])
{
	if (strspn(*at, "0123456789abcdef") != 32)
		return 0;
	memcpy(out, *at, 32);
	out[32] = '\0';
	*at += 32;
	return 1;
}

static int skip_byte(const char **at, char c)
{
	if (**at != c)
		return 0;
	++*at;
	return 1;
}

struct redis_attempt_answer dlki_redis_attempt_answer(
	const struct redis_reply *r)
{
	struct redis_attempt_answer nonsense = { .type = RD_NONSENSE };
	struct redis_attempt_answer t = nonsense;
	const char *at = r->text;
	uint64_t n = 0;
	char verb;

	if (r->type != RD_STRING || strlen(r->text) != r->len)
		return nonsense;
	if (parse_number(&at, &t.token)) {
		t.type = t.token > 0 ? RD_GRANTED : RD_NONSENSE;
		return *at ? nonsense : t;
	}
	verb = *at ? *at++ : '\0';
	if (verb == 'F' || verb == 'N') {
		t.type = verb == 'F' ? RD_FOREIGN : RD_ENDLESS;
		return *at ? nonsense : t;
	}
	if (!skip_byte(&at, ' ') || !parse_number(&at, &n))
		return nonsense;
	if (verb == 'B' && skip_byte(&at, ' ') &&
	    !parse_number(&at, &t.clock_us))
		return nonsense;
	if (*at)
		return nonsense;
	if (verb == 'B') {
		t.type = RD_BUSY;
		t.wait_ms = (int64_t)n;
	} else if (verb == 'L' && n <= UINT32_MAX) {
		t.type = RD_LIMIT;
		t.limit = (uint32_t)n;
	}
	return t;
}

int dlki_redis_number(const struct redis_reply *r, int64_t least, int64_t *out)
{
	if (r->type != RD_INTEGER || r->number < least || r->number > MOST)
		return 0;
	*out = r->number;
	return 1;
}

int dlki_redis_notification(const struct redis_reply *r,
			    struct redis_notification *out)
{
	const char *at;

	if (r->type != RD_ARRAY || r->len != 3 ||
	    r->parts[0]->type != RD_STRING ||
	    strcmp(r->parts[0]->text, "message") != 0 ||
	    r->parts[2]->type != RD_STRING ||
	    strlen(r->parts[2]->text) != r->parts[2]->len)
		return 0;
	at = r->parts[2]->text;
	out->clock_us = 0;
	if (!parse_owner(&at, out->owner) || !skip_byte(&at, ' ') ||
	    !parse_number(&at, &out->attempt) || !skip_byte(&at, ' ') ||
	    !parse_number(&at, &out->token))
		return 0;
	if (skip_byte(&at, ' ') && !parse_number(&at, &out->clock_us))
		return 0;
	return !*at;
}

int dlki_redis_watch_answer(const struct redis_reply *r,
			    struct redis_watch_answer *out)
{
	uint64_t others;
	const char *at;

	if (r->type != RD_STRING || strlen(r->text) != r->len)
		return 0;
	at = r->text;
	if (!parse_number(&at, &others) || others > 1 || !skip_byte(&at, ' ') ||
	    !parse_number(&at, &out->last) || *at)
		return 0;
	out->others = (int)others;
	return 1;
}

int dlki_redis_is_seen(const struct redis_reply *r, int plain)
{
	enum { TOKEN = 16 };

	return r->type == RD_STRING &&
	       (r->len == TOKEN || (plain && r->len == RD_SEEN_LEN)) &&
	       strspn(r->text, "0123456789") >= TOKEN &&
	       strspn(r->text, "0123456789abcdef") == r->len;
}

/* "lease label\nname", "lease*permits label\nname" or
 * "lease^owner label\nname".  The name follows the last newline, because a name
 * has none itself. */
static int parse_payload(const char *payload, uint32_t *permits, char *label,
			 size_t size, char name[256])
{
	const char *end = strrchr(payload, '\n');
	uint64_t lease_ms, several = 0;
	char beside[33];
	size_t n;

	if (!parse_number(&payload, &lease_ms))
		return 0;
	if (skip_byte(&payload, '^') && !parse_owner(&payload, beside))
		return 0;
	if (skip_byte(&payload, '*') && !parse_number(&payload, &several))
		return 0;
	if (!skip_byte(&payload, ' ') || several > UINT32_MAX)
		return 0;
	if (permits)
		*permits = (uint32_t)several;
	n = end ? (size_t)(end - payload) : strlen(payload);
	snprintf(label, size, "%.*s", (int)(n < size ? n : size - 1), payload);
	if (name)
		snprintf(name, 256, "%s", end ? end + 1 : "");
	return 1;
}

int dlki_redis_limit_row(const struct redis_reply *r, uint32_t *limit)
{
	uint64_t n;
	const char *at;

	if (r->type != RD_STRING || r->text[0] != 'L')
		return 0;
	at = r->text + 1;
	if (!skip_byte(&at, ' ') || !parse_number(&at, &n) || *at ||
	    n > UINT32_MAX)
		return 0;
	*limit = (uint32_t)n;
	return 1;
}

static int foreign_participant(struct redis_participant *out, const char *at,
			       const char *label)
{
	int here = skip_byte(&at, ' ');
	uint64_t left;

	if (here && parse_number(&at, &left))
		out->participant.remaining_ms = (int64_t)left;
	snprintf(out->id, sizeof(out->id), "foreign");
	snprintf(out->label, sizeof(out->label), "%s", label);
	return here;
}

int dlki_redis_participant(const struct redis_reply *r,
			   struct redis_participant *out)
{
	struct dlock_participant *p = &out->participant;
	uint64_t left = 0;
	const char *at;
	char who[33];
	char kind;

	memset(out, 0, sizeof(*out));
	p->size = sizeof(*p);
	p->label = out->label;
	p->id = out->id;
	p->remaining_ms = -1;
	if (r->type != RD_STRING || !r->text[0])
		return 0;
	at = r->text;
	kind = *at++;
	if (kind == 'F')
		return foreign_participant(
			out, at, "the key holds something that is not dlock's");
	if (kind == 'P')
		return foreign_participant(
			out, at, "a client of another library (SET NX PX)");
	if (!skip_byte(&at, ' '))
		return 0;
	p->waiting = kind == 'W';
	if (p->waiting) {
		p->shared = *at == 's';
		at += *at != '\0';
	} else if (kind == 'X' || kind == 'S') {
		p->shared = kind == 'S';
		if (parse_number(&at, &left))
			p->remaining_ms = (int64_t)left;
		else if (!skip_byte(&at, '-') || !parse_number(&at, &left))
			return 0;
	} else {
		return 0;
	}
	if (!skip_byte(&at, ' ') || !parse_owner(&at, who) ||
	    !skip_byte(&at, ' '))
		return 0;
	if (!p->waiting &&
	    (!parse_number(&at, &p->token) || !skip_byte(&at, ' ')))
		return 0;
	p->since_ms = (int64_t)(p->token / 1000);
	memcpy(out->id, who, sizeof(out->id) - 1);
	return parse_payload(at, &p->permits, out->label, sizeof(out->label),
			     NULL);
}

int dlki_redis_lock_info(const struct redis_reply *r, const char *key,
			 struct dlock_lock_info *out, char name[256])
{
	static const char kinds[][10] = { "lock", "semaphore" };
	static const char letters[] = "ls";
	const char *kind = key[0] ? strchr(letters, key[0]) : NULL;
	uint64_t limit = 0;
	const char *at = r->text;
	char label[8];

	if (!kind || r->type == RD_NIL)
		return 0;
	if (r->type != RD_STRING || !parse_number(&at, &limit))
		return DLOCK_EPROTO;
	(void)skip_byte(&at, '='); /* an operator has set it */
	if (!skip_byte(&at, ' ') || limit > UINT32_MAX)
		return DLOCK_EPROTO;
	if (!parse_payload(at, NULL, label, sizeof(label), name))
		return DLOCK_EPROTO;
	if (!name[0])
		return 0;
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->name = name;
	out->kind = kinds[kind - letters];
	out->permits = (uint32_t)limit;
	return 1;
}

const char *dlki_redis_info_field(const char *info, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = strstr(info, name); p; p = strstr(p + n, name)) {
		if ((p == info || p[-1] == '\n') && p[n] == ':')
			return p + n + 1;
	}
	return NULL;
}
