/* SPDX-License-Identifier: Apache-2.0 */
#include "party.h"
#include "exits.h"
#include "message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct party *add(struct parties *p)
{
	if (p->count == p->room) {
		size_t room = p->room ? p->room * 2 : 16;
		struct party *list;

		list = reallocarray(p->list, room, sizeof(*list));
		if (!list)
			return NULL;
		p->list = list;
		p->room = room;
	}
	return &p->list[p->count];
}

static void collect(const struct dlock_party *from, void *arg)
{
	struct parties *p = arg;
	struct party *to = p->failed ? NULL : add(p);

	p->failed = 1;
	if (!to)
		return;
	to->label = strdup(from->label ? from->label : "");
	to->id = strdup(from->id ? from->id : "");
	to->token = from->token;
	to->remaining_ms = from->remaining_ms;
	to->shared = from->shared;
	to->waiting = from->waiting;
	p->count++;
	p->failed = !to->label || !to->id;
}

int parties_fetch(struct parties *p, dlock_lock *lock, const struct options *o)
{
	int64_t wait_ms = o->wait_ms < 0 ? ASK_MS : o->wait_ms;
	int code = dlock_inspect(lock, collect, p, wait_ms);

	if (code < 0)
		return fail_dlock(code);
	if (p->failed)
		return fail(LEAVE_SYSTEM, "out of memory");
	return 0;
}

void parties_free(struct parties *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->list[i].label);
		free(p->list[i].id);
	}
	free(p->list);
}

static const char *state(const struct party *p)
{
	return p->waiting ? "waits" : "holds";
}

static const char *side(const struct party *p)
{
	return p->shared ? "shared" : "exclusive";
}

void party_row(struct table *t, const struct party *p)
{
	char token[24] = "-", left[32] = "-";

	if (p->token > 0)
		snprintf(token, sizeof(token), "%" PRIu64, p->token);
	if (p->remaining_ms >= 0)
		snprintf(left, sizeof(left), "%" PRId64 ".%03ds",
			 p->remaining_ms / 1000, (int)(p->remaining_ms % 1000));
	table_row(t, state(p), side(p), token, left, p->id, p->label);
}

/* Tokens stay exact in JSON: stores keep them below 2^63. */
static json_t *party_json(const struct party *p)
{
	json_t *left = p->remaining_ms < 0 ? json_null() :
					     json_integer(p->remaining_ms);
	json_t *token = p->token ? json_integer((json_int_t)p->token) :
				   json_null();

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "state", state(p),
			 "side", side(p), "token", token, "remaining_ms", left,
			 "id", json_text(p->id), "label", json_text(p->label));
}

json_t *parties_json(const struct parties *p, const char *name,
		     const struct options *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++) {
		if (json_array_append_new(list, party_json(&p->list[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return json_pack("{s:o, s:s, s:o}", "name", json_text(name), "kind",
			 kind_name(o->kind), "parties", list);
}

const char *kind_name(enum kind kind)
{
	return kind == KIND_MUTEX     ? "mutex" :
	       kind == KIND_SEMAPHORE ? "semaphore" :
					"rwlock";
}
