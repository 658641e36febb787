/* SPDX-License-Identifier: Apache-2.0 */
/* What the scripts' replies mean. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/redis/reply.h"

/* Decimal digits from *at on, at least one and below 2^53; moves *at. */
static int digits(const char **at, uint64_t *out)
{
	const char *p = *at;
	uint64_t n = 0;

	while (*p >= '0' && *p <= '9') {
		n = n * 10 + (uint64_t)(*p++ - '0');
		if (n > UINT64_C(9007199254740991))
			return 0;
	}
	if (p == *at)
		return 0;
	*at = p;
	*out = n;
	return 1;
}

static int owner(const char **at, char out[33])
{
	if (strspn(*at, "0123456789abcdef") != 32)
		return 0;
	memcpy(out, *at, 32);
	out[32] = '\0';
	*at += 32;
	return 1;
}

static int byte(const char **at, char c)
{
	if (**at != c)
		return 0;
	++*at;
	return 1;
}

struct redis_taken dlki_redis_taken(const struct redis_reply *r)
{
	struct redis_taken nonsense = { .answer = REDIS_NONSENSE };
	struct redis_taken t = nonsense;
	const char *at = r->text;
	uint64_t n = 0;
	char verb;

	if (r->type != REDIS_STRING || strlen(r->text) != r->len)
		return nonsense;
	if (digits(&at, &t.token)) {
		t.answer = t.token > 0 ? REDIS_GRANTED : REDIS_NONSENSE;
		return *at ? nonsense : t;
	}
	verb = *at ? *at++ : '\0';
	if (verb == 'F' || verb == 'N') {
		t.answer = verb == 'F' ? REDIS_FOREIGN : REDIS_ENDLESS;
		return *at ? nonsense : t;
	}
	if (!byte(&at, ' ') || !digits(&at, &n) || *at)
		return nonsense;
	if (verb == 'B') {
		t.answer = REDIS_BUSY;
		t.wait_ms = (int64_t)n;
	} else if (verb == 'L' && n <= UINT32_MAX) {
		t.answer = REDIS_LIMIT;
		t.limit = (uint32_t)n;
	}
	return t;
}

int dlki_redis_number(const struct redis_reply *r, int64_t least, int64_t *out)
{
	if (r->type != REDIS_INTEGER || r->number < least)
		return 0;
	*out = r->number;
	return 1;
}

int dlki_redis_push(const struct redis_reply *r, struct redis_push *out)
{
	const char *at;

	if (r->type != REDIS_ARRAY || r->len != 3 ||
	    r->parts[0]->type != REDIS_STRING ||
	    strcmp(r->parts[0]->text, "message") != 0 ||
	    r->parts[2]->type != REDIS_STRING ||
	    strlen(r->parts[2]->text) != r->parts[2]->len)
		return 0;
	at = r->parts[2]->text;
	return owner(&at, out->owner) && byte(&at, ' ') &&
	       digits(&at, &out->look) && byte(&at, ' ') &&
	       digits(&at, &out->token) && !*at;
}

/* The name stands behind the last newline: names have none. */
static void split(const char *tail, char *label, size_t size, char name[256])
{
	const char *end = strrchr(tail, '\n');
	size_t n = end ? (size_t)(end - tail) : strlen(tail);

	snprintf(label, size, "%.*s", (int)(n < size ? n : size - 1), tail);
	if (name)
		snprintf(name, 256, "%s", end ? end + 1 : "");
}

static int foreign(struct redis_party *out, const char *at)
{
	int here = byte(&at, ' ');
	uint64_t left;

	if (here && digits(&at, &left))
		out->party.remaining_ms = (int64_t)left;
	snprintf(out->id, sizeof(out->id), "foreign");
	snprintf(out->label, sizeof(out->label),
		 "the key holds something that is not dlock's");
	return here;
}

int dlki_redis_party(const struct redis_reply *r, struct redis_party *out)
{
	struct dlock_party *p = &out->party;
	uint64_t left = 0;
	const char *at;
	char who[33];
	char kind;

	memset(out, 0, sizeof(*out));
	p->size = sizeof(*p);
	p->label = out->label;
	p->id = out->id;
	p->remaining_ms = -1;
	if (r->type != REDIS_STRING || !r->text[0])
		return 0;
	at = r->text;
	kind = *at++;
	if (kind == 'F')
		return foreign(out, at);
	if (!byte(&at, ' '))
		return 0;
	p->waiting = kind == 'W';
	if (p->waiting) {
		p->shared = *at == 's';
		at += *at != '\0';
	} else if (kind == 'X' || kind == 'S') {
		p->shared = kind == 'S';
		if (digits(&at, &left))
			p->remaining_ms = (int64_t)left;
		else if (!byte(&at, '-') || !digits(&at, &left))
			return 0;
	} else {
		return 0;
	}
	if (!byte(&at, ' ') || !owner(&at, who) || !byte(&at, ' '))
		return 0;
	if (!p->waiting && (!digits(&at, &p->token) || !byte(&at, ' ')))
		return 0;
	memcpy(out->id, who, sizeof(out->id) - 1);
	split(at, out->label, sizeof(out->label), NULL);
	return 1;
}

int dlki_redis_entry(const struct redis_reply *r, const char *key,
		     struct dlock_entry *out, char name[256])
{
	static const char kinds[][10] = { "mutex", "rwlock", "semaphore" };
	static const char letters[] = "mrs";
	const char *kind = key[0] ? strchr(letters, key[0]) : NULL;
	uint64_t limit = 0;
	const char *at = r->text;
	char label[8];

	if (!kind || r->type == REDIS_NIL)
		return 0;
	if (r->type != REDIS_STRING || !digits(&at, &limit) ||
	    !byte(&at, ' ') || limit > UINT32_MAX)
		return DLOCK_EPROTO;
	split(at, label, sizeof(label), name);
	if (!name[0])
		return 0;
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->name = name;
	out->kind = kinds[kind - letters];
	out->permits = (uint32_t)limit;
	return 1;
}
