/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Under dlki_mem_mu. */
static void *lines; /* tsearch tree of struct mem_line */
static uint64_t last_token;
static struct dlk_place *scratch;
static size_t scratch_room;

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct mem_line *)a)->key,
		      ((const struct mem_line *)b)->key);
}

uint64_t dlki_mem_token(void)
{
	struct timespec ts;
	uint64_t us;

	clock_gettime(CLOCK_REALTIME, &ts);
	us = (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
	last_token = us > last_token ? us : last_token + 1;
	return last_token;
}

/* Their memory is the parent's: it is in use there. */
void dlki_mem_lines_forget(void)
{
	lines = NULL;
	scratch = NULL;
	scratch_room = 0;
}

/* The line goes with the last one; is it still there? */
static int leave(struct mem_party *p)
{
	struct mem_line *line = p->line;

	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	else
		line->last = p->link;
	p->line = NULL;
	p->granted = 0;
	if (line->first)
		return 1;
	tdelete(line, &lines, compare);
	free(line);
	return 0;
}

static struct mem_line *line_new(const struct mem_session *s,
				 const struct dlk_claim *claim)
{
	size_t space = strlen(s->space);
	size_t key = strlen(claim->key) + 1;
	size_t name = strlen(claim->name) + 1;
	struct mem_line *line = malloc(sizeof(*line) + space + key + name);

	if (!line)
		return NULL;
	line->first = NULL;
	line->last = &line->first;
	line->limit = claim->limit;
	line->kind = claim->kind;
	memcpy(line->key, s->space, space);
	memcpy(line->key + space, claim->key, key);
	line->name = line->key + space + key;
	memcpy(line->name, claim->name, name);
	return line;
}

struct mem_line *dlki_mem_find(const struct mem_session *s,
			       const struct dlk_claim *claim,
			       struct dlk_error *err)
{
	struct mem_line *probe = line_new(s, claim);
	struct mem_line **node;

	if (!probe) {
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
		return NULL;
	}
	node = tfind(probe, &lines, compare);
	free(probe);
	return node ? *node : NULL;
}

void dlki_mem_expire(struct mem_line *line, dlk_time now)
{
	struct mem_party *next;
	int left = 0;

	for (struct mem_party *p = line->first; p; p = next) {
		next = p->next;
		if (!p->granted || p->until > now)
			continue;
		if (!leave(p))
			return;
		left = 1;
	}
	if (left)
		dlki_mem_wake(line);
}

int dlki_mem_join(struct mem_party *p, struct dlk_error *err)
{
	const struct mem_session *s = (struct mem_session *)p->ticket.session;
	const struct dlk_claim *claim = &p->ticket.claim;
	struct mem_line *fresh = line_new(s, claim);
	struct mem_line **node;
	struct mem_line *line;
	uint32_t used;

	if (!fresh)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	node = tsearch(fresh, &lines, compare);
	if (!node || *node != fresh)
		free(fresh);
	if (!node)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	line = *node;
	p->line = line;
	p->next = NULL;
	p->link = line->last;
	*line->last = p;
	line->last = &p->next;
	dlki_mem_expire(line, dlk_now());
	if (line->first == p)
		line->limit = claim->limit;
	used = line->limit;
	if (used == claim->limit)
		return 0;
	leave(p);
	return dlk_fail(err, DLOCK_EINVAL,
			"semaphore '%s' has %u permits, "
			"not %u",
			claim->name, (unsigned int)used,
			(unsigned int)claim->limit);
}

static struct dlk_place place_of(const struct mem_party *p)
{
	return (struct dlk_place){ p->ticket.claim.mode,
				   p->ticket.claim.limit };
}

static int scratch_put(size_t i, const struct mem_party *p)
{
	if (i == scratch_room) {
		size_t room = scratch_room ? 2 * scratch_room : 64;
		struct dlk_place *grown = realloc(scratch,
						  room * sizeof(*grown));

		if (!grown)
			return 0;
		scratch = grown;
		scratch_room = room;
	}
	scratch[i] = place_of(p);
	return 1;
}

void dlki_mem_wake(struct mem_line *line)
{
	size_t ahead = 0;

	for (struct mem_party *p = line->first; p; p = p->next) {
		if (!p->granted) {
			if (dlk_grant(scratch, ahead, place_of(p)) >= 0)
				return;
			dlk_wake(p->ticket.session, p->ticket.id);
		}
		if (!scratch_put(ahead++, p)) {
			/* No memory to tell who is next: all may look. */
			for (; p; p = p->next)
				dlk_wake(p->ticket.session, p->ticket.id);
			return;
		}
	}
}

void dlki_mem_leave(struct mem_party *p)
{
	struct mem_line *line = p->line;

	if (leave(p))
		dlki_mem_wake(line);
}

int dlki_mem_turn(const struct mem_party *p, struct dlk_error *err)
{
	size_t ahead = 0;

	for (const struct mem_party *q = p->line->first; q != p; q = q->next) {
		if (!scratch_put(ahead++, q))
			return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	}
	return dlk_grant(scratch, ahead, place_of(p)) < 0;
}

struct listing {
	const struct mem_session *s;
	void (*each)(const struct dlock_entry *e, void *arg);
	void *arg;
};

static void list_one(const void *node, VISIT visit, void *closure)
{
	static const char *const kinds[] = { "mutex", "rwlock", "semaphore" };
	const struct mem_line *line = *(struct mem_line *const *)node;
	const struct listing *l = closure;
	struct dlock_entry e = {
		.size = sizeof(e),
		.name = line->name,
		.kind = kinds[line->kind],
		.permits = line->limit,
	};

	if ((visit == postorder || visit == leaf) &&
	    strncmp(line->key, l->s->space, strlen(l->s->space)) == 0)
		l->each(&e, l->arg);
}

void dlki_mem_each(const struct mem_session *s,
		   void (*each)(const struct dlock_entry *e, void *arg),
		   void *arg)
{
	struct listing l = { s, each, arg };

	twalk_r(lines, list_one, &l);
}
