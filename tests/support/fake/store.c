/* SPDX-License-Identifier: Apache-2.0 */
#include "fake/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

pthread_mutex_t fakei_mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fakei_changed;
struct fake fakei_stores[STORES];
struct entry *fakei_table[BUCKETS];
char fakei_complaint[200];
pid_t fakei_home;
int *fakei_in_child;

#define LINE 4096

static struct dlk_queue_entry line[LINE];
static uint64_t last_token;
static int token_repeats;
static int tokens_are_counted; /* since tokens were taken back */

void fakei_complain(const char *fmt, ...)
{
	va_list args;

	if (fakei_complaint[0])
		return;
	va_start(args, fmt);
	vsnprintf(fakei_complaint, sizeof(fakei_complaint), fmt, args);
	va_end(args);
}

struct entry **fakei_bucket(const struct fake *f, const char *key)
{
	uint32_t h = (uint32_t)(f - fakei_stores) + 2166136261u;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619u;
	return &fakei_table[(h ^ h >> 15) % BUCKETS];
}

int fakei_same(const struct entry *e, const struct fake *f, const char *key)
{
	return e->fake == f && strcmp(e->key, key) == 0;
}

struct entry **fakei_find(const struct fake *f, const char *key,
			  const char *owner)
{
	struct entry **p = fakei_bucket(f, key);

	while (*p &&
	       !(fakei_same(*p, f, key) && strcmp((*p)->owner, owner) == 0))
		p = &(*p)->next;
	return p;
}

/* Tells whether `me` can have the lock, behind the `n` in `line`. The read side
 * is not in the way of an upgrade. */
static int may_have(const struct entry *me, size_t n)
{
	struct dlk_queue_entry as = { me->mode, me->limit, 1 };
	const struct entry *read = NULL;

	if (me->beside[0])
		read = *fakei_find(me->fake, me->key, me->beside);
	return dlk_grant(line, n - (read && read->granted), as) < 0;
}

void fakei_wake_line(struct fake *f, const char *key)
{
	size_t n = 0;

	if (f->wakes_nobody)
		return;
	for (struct entry *e = *fakei_bucket(f, key); e; e = e->next) {
		if (!fakei_same(e, f, key))
			continue;
		if (!e->granted && e->session && may_have(e, n))
			dlk_wake(e->session, e->id);
		line[n++] = (struct dlk_queue_entry){ e->mode, e->limit, 1 };
	}
}

int fakei_drop(struct entry **p)
{
	struct entry *e = *p;

	if (!e)
		return 0;
	*p = e->next;
	free(e);
	return 1;
}

void fakei_expire(struct fake *f, const char *key)
{
	dlk_time now = dlk_now();
	int gone = 0;

	for (struct entry **p = fakei_bucket(f, key); *p;) {
		if (fakei_same(*p, f, key) && (*p)->until <= now)
			gone |= fakei_drop(p);
		else
			p = &(*p)->next;
	}
	if (gone)
		fakei_wake_line(f, key);
}

static int holds_same(const struct entry *e, const struct entry *like)
{
	return fakei_same(e, like->fake, like->key) && e->granted;
}

static int is_last_holder(const struct entry *e, const struct entry *like)
{
	const struct entry *o = e->next;

	while (o && !holds_same(o, like))
		o = o->next;
	return holds_same(e, like) && !o;
}

struct entry *fakei_append(const struct entry *like, const char *name)
{
	struct entry **p = fakei_bucket(like->fake, like->key);
	struct entry *e = malloc(sizeof(*e) + strlen(name) + 1);

	if (!e)
		return NULL;
	*e = *like;
	e->name = (char *)(e + 1);
	memcpy(e->name, name, strlen(name) + 1);
	while (*p && !(e->beside[0] && is_last_holder(*p, like)))
		p = &(*p)->next;
	if (*p)
		p = &(*p)->next;
	e->next = *p;
	*p = e;
	return e;
}

void fake_repeat_token(void)
{
	pthread_mutex_lock(&fakei_mu);
	token_repeats = 1;
	pthread_mutex_unlock(&fakei_mu);
}

uint64_t fakei_next_token(void)
{
	struct timespec ts;
	uint64_t us;

	if (token_repeats) {
		token_repeats = 0;
		return last_token;
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	us = (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
	last_token = us > last_token && !tokens_are_counted ? us :
							      last_token + 1;
	return last_token;
}

void fakei_set_tokens_aside(struct entry *e, uint64_t n)
{
	if (e->token_end < e->token)
		e->token_end = e->token;
	e->token_end += n;
	if (last_token < e->token_end)
		last_token = e->token_end;
}

/* Without the clock, the next token is the first unused token. */
void fakei_take_tokens_back(struct entry *e, uint64_t used)
{
	if (last_token != e->token_end)
		return;
	last_token = used > e->token ? used : e->token;
	tokens_are_counted = 1;
}

dlk_time fakei_end_of(int64_t lease_ms)
{
	return lease_ms > 0 ? dlk_now() + lease_ms * MS : DLK_FOREVER;
}

struct entry *fakei_ask(const struct entry *claim, const char *name,
			int64_t lease_ms, dlk_time *first_end)
{
	struct fake *f = claim->fake;
	struct entry *e;
	size_t n = 0;

	fakei_expire(f, claim->key);
	e = *fakei_find(f, claim->key, claim->owner);
	if (!e)
		e = fakei_append(claim, name);
	if (!e)
		return NULL;
	*first_end = DLK_FOREVER;
	for (struct entry *o = *fakei_bucket(f, e->key); o != e; o = o->next) {
		if (!fakei_same(o, f, e->key))
			continue;
		if (o->until < *first_end)
			*first_end = o->until;
		if (n < LINE)
			line[n++] = (struct dlk_queue_entry){ o->mode, o->limit,
							      1 };
	}
	e->until = fakei_end_of(lease_ms);
	if (!e->granted && may_have(e, n)) {
		e->granted = 1;
		e->token = fakei_next_token();
	}
	return e;
}

void fakei_give_up(struct fake *f, const char *key, const char *owner)
{
	if (fakei_drop(fakei_find(f, key, owner)))
		fakei_wake_line(f, key);
}

void fakei_catch_up(struct fake *f)
{
	dlk_time now = dlk_now(), ignored;
	size_t left = 0;

	for (size_t i = 0; i < f->n_late; i++) {
		struct late *l = &f->late[i];

		if (l->at > now)
			f->late[left++] = *l;
		else if (l->verb == FAKE_ATTEMPT)
			fakei_ask(&l->claim, l->name, l->lease_ms, &ignored);
		else
			fakei_give_up(f, l->claim.key, l->claim.owner);
	}
	f->n_late = left;
}
