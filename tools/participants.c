/* SPDX-License-Identifier: Apache-2.0 */
#include "participants.h"
#include "exits.h"
#include "message.h"
#include "since.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct participant *add(struct participants *p)
{
	if (p->count == p->room) {
		size_t room = p->room ? p->room * 2 : 16;
		struct participant *list;

		list = reallocarray(p->list, room, sizeof(*list));
		if (!list)
			return NULL;
		p->list = list;
		p->room = room;
	}
	return &p->list[p->count];
}

static void collect(const struct dlock_participant *from, void *arg)
{
	struct participants *p = arg;
	struct participant *to = p->failed ? NULL : add(p);

	p->failed = 1;
	if (!to)
		return;
	to->label = strdup(from->label ? from->label : "");
	to->id = strdup(from->id ? from->id : "");
	to->token = from->token;
	to->since_ms = since_plausible(from->since_ms);
	to->remaining_ms = from->remaining_ms;
	to->shared = from->shared;
	to->waiting = from->waiting;
	to->permits = from->permits;
	to->limit = from->limit;
	p->count++;
	p->failed = !to->label || !to->id;
}

int participants_ask(struct participants *p, dlock_lock *lock, int64_t wait_ms)
{
	int code = dlock_inspect(lock, collect, p, wait_ms);

	return code == DLOCK_OK && p->failed ? DLOCK_ENOMEM : code;
}

int64_t ask_ms(const struct options *o)
{
	return o->wait_ms < 0 ? 5000 : o->wait_ms;
}

int participants_fetch(struct participants *p, dlock_lock *lock,
		       const struct options *o)
{
	int code = participants_ask(p, lock, ask_ms(o));

	if (code == DLOCK_ENOMEM)
		return fail(LEAVE_SYSTEM, "out of memory");
	return code < 0 ? fail_dlock(code) : 0;
}

void participants_cut(struct participants *p, size_t count)
{
	while (p->count > count) {
		p->count--;
		free(p->list[p->count].label);
		free(p->list[p->count].id);
	}
	p->failed = 0;
}

void participants_free(struct participants *p)
{
	participants_cut(p, 0);
	free(p->list);
}

size_t participants_holders(const struct participants *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += !p->list[i].waiting;
	return n;
}

int participants_permits(const struct participants *p,
			 struct dlock_permits *out)
{
	*out = (struct dlock_permits){ .size = sizeof(*out) };
	for (size_t i = 0; i < p->count; i++) {
		const struct participant *one = &p->list[i];

		if (!one->waiting)
			out->held += one->permits;
		if (one->permits > 0)
			out->limit = one->limit;
	}
	out->free = out->limit > out->held ? out->limit - out->held : 0;
	return out->limit > 0;
}

int participants_have(const struct participants *p,
		      const struct participant *one)
{
	for (size_t i = 0; i < p->count; i++)
		if (!p->list[i].waiting && p->list[i].token == one->token &&
		    !strcmp(p->list[i].id, one->id))
			return 1;
	return 0;
}

#define SIDE_SIZE 24

static const char *state(const struct participant *p)
{
	return p->waiting ? "waits" : "holds";
}

/* "permit", or "3 permits". */
static const char *side(const struct participant *p, char out[SIDE_SIZE])
{
	if (p->permits > 1)
		snprintf(out, SIDE_SIZE, "%" PRIu32 " permits", p->permits);
	else if (p->permits == 1)
		snprintf(out, SIDE_SIZE, "permit");
	else
		snprintf(out, SIDE_SIZE, p->shared ? "shared" : "exclusive");
	return out;
}

void participant_row(struct table *t, const struct participant *p)
{
	char token[24] = "-", left[32] = "-", since[SINCE_SIZE];
	char kind[SIDE_SIZE];

	since_local(since, p->since_ms);
	if (p->token > 0)
		snprintf(token, sizeof(token), "%" PRIu64, p->token);
	if (p->remaining_ms >= 0)
		snprintf(left, sizeof(left), "%" PRId64 ".%03ds",
			 p->remaining_ms / 1000, (int)(p->remaining_ms % 1000));
	table_row(t, state(p), side(p, kind), since, token, left, p->id,
		  p->label);
}

/* Tokens stay exact in JSON: stores keep them below 2^63. */
static json_t *participant_json(const struct participant *p)
{
	json_t *left = p->remaining_ms < 0 ? json_null() :
					     json_integer(p->remaining_ms);
	json_t *token = p->token ? json_integer((json_int_t)p->token) :
				   json_null();
	const char *kind = p->shared ? "shared" : "exclusive";
	char since[SINCE_SIZE];

	since_utc(since, p->since_ms);
	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "state", state(p),
		"side", p->permits > 0 ? "permit" : kind, "permits",
		p->permits > 0 ? json_integer(p->permits) : json_null(),
		"since", p->since_ms ? json_string(since) : json_null(),
		"token", token, "remaining_ms", left, "id", json_text(p->id),
		"label", json_text(p->label));
}

json_t *participants_array(const struct participants *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++) {
		if (json_array_append_new(list, participant_json(&p->list[i])) <
		    0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *permits_json(const struct dlock_permits *n)
{
	return json_pack("{s:I, s:I, s:I}", "limit", (json_int_t)n->limit,
			 "held", (json_int_t)n->held, "free",
			 (json_int_t)n->free);
}

json_t *participants_json(const struct participants *p, const char *name,
			  const struct options *o)
{
	struct dlock_permits n;
	int any = participants_permits(p, &n);

	return json_pack("{s:o, s:s, s:o, s:o}", "name", json_text(name),
			 "kind", kind_name(o->kind), "participants",
			 participants_array(p), "permits",
			 any ? permits_json(&n) : json_null());
}

const char *kind_name(enum kind kind)
{
	return kind == KIND_SEMAPHORE ? "semaphore" : "lock";
}

void participants_tell(const struct participants *p, const char *verb)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct participant *one = &p->list[i];
		char then[SINCE_SIZE], age[SINCE_SIZE];

		if (one->waiting)
			continue;
		since_local(then, one->since_ms);
		since_age(age, one->since_ms);
		if (one->since_ms)
			say("%s by %s since %s (%s)", verb, one->label, then,
			    age);
		else
			say("%s by %s", verb, one->label);
	}
}
