/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ticket.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/client.h"
#include "support/check.h"
#include "support/wait.h"

#define FIRST_ID (UINT64_C(1) << 63) /* above all ids of the core */
#define PATIENCE_MS 20000
#define PATIENCE_NS (PATIENCE_MS * DLK_MS)

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct ticket *all; /* under mu */

/* The linker puts the first of each two in the place of the core's function. */
void __wrap_dlk_wanted(struct dlk_session *s, uint64_t id);
void __real_dlk_wanted(struct dlk_session *s, uint64_t id);
void __wrap_dlk_wake(struct dlk_session *s, uint64_t id);
void __real_dlk_wake(struct dlk_session *s, uint64_t id);
void __wrap_dlk_lost(struct dlk_session *s, uint64_t id, const char *why);
void __real_dlk_lost(struct dlk_session *s, uint64_t id, const char *why);

static void count(uint64_t id, int told, int woken, int lost)
{
	pthread_mutex_lock(&mu);
	for (struct ticket *t = all; t; t = t->next) {
		if (t->base.id != id)
			continue;
		t->told += told;
		t->woken += woken;
		t->lost += lost;
	}
	pthread_mutex_unlock(&mu);
}

void __wrap_dlk_wanted(struct dlk_session *s, uint64_t id)
{
	if (id < FIRST_ID)
		__real_dlk_wanted(s, id);
	else
		count(id, 1, 0, 0);
}

void __wrap_dlk_wake(struct dlk_session *s, uint64_t id)
{
	if (id < FIRST_ID)
		__real_dlk_wake(s, id);
	else
		count(id, 0, 1, 0);
}

void __wrap_dlk_lost(struct dlk_session *s, uint64_t id, const char *why)
{
	if (id < FIRST_ID)
		__real_dlk_lost(s, id, why);
	else
		count(id, 0, 0, 1);
}

static void unlist(const struct ticket *t)
{
	struct ticket **at = &all;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at)
		*at = t->next;
}

void ticket_make(struct ticket *t, dlock_client *c, enum dlk_mode mode)
{
	static unsigned int made;

	pthread_mutex_lock(&mu);
	unlist(t);
	memset(t, 0, sizeof(*t));
	snprintf(t->owner, sizeof(t->owner), "%032x", ++made);
	t->base.id = FIRST_ID + made;
	t->next = all;
	all = t;
	pthread_mutex_unlock(&mu);
	t->base.session = c->session;
	t->base.request = (struct dlk_request){
		.name = "x",
		.key = "lnx",
		.owner = t->owner,
		.label = c->session->label,
		.kind = DLK_LOCK,
		.mode = mode,
	};
}

static enum dlk_verdict ask(struct ticket *t, dlk_time patience,
			    struct dlk_error *err)
{
	struct dlk_ticket *b = &t->base;

	b->since = dlk_now();
	b->lease_ms = b->session->ttl_ms;
	return b->session->backend->attempt(b, b->since + patience, err);
}

enum dlk_verdict ticket_ask(struct ticket *t)
{
	struct dlk_error err = { 0 };
	enum dlk_verdict v = ask(t, PATIENCE_NS, &err);

	if (v == DLK_FAILED)
		FAIL("an attempt failed: %s", err.text);
	return v;
}

enum dlk_verdict ticket_ask_for(struct ticket *t, int64_t ms)
{
	struct dlk_error ignored = { 0 };

	return ask(t, ms * DLK_MS, &ignored);
}

void ticket_take(struct ticket *t, dlock_client *c)
{
	ticket_make(t, c, DLK_EXCLUSIVE);
	CHECK_INT(ticket_ask(t), ==, DLK_GRANTED);
}

void ticket_queue(struct ticket *t, dlock_client *c, enum dlk_mode mode)
{
	ticket_make(t, c, mode);
	CHECK_INT(ticket_ask(t), ==, DLK_BUSY);
}

int ticket_watch(struct ticket *t)
{
	struct dlk_ticket *b = &t->base;
	struct dlk_error err = { 0 };

	return b->session->backend->watch_wanted(b, dlk_now() + PATIENCE_NS,
						 &err);
}

uint64_t ticket_last(const struct ticket *t)
{
	return t->base.token_last;
}

int ticket_release_for(struct ticket *t, int64_t ms)
{
	struct dlk_ticket *b = &t->base;
	struct dlk_error err = { 0 };

	return b->session->backend->release(b, dlk_now() + ms * DLK_MS, &err);
}

int ticket_release(struct ticket *t)
{
	return ticket_release_for(t, PATIENCE_MS);
}

int ticket_release_begin(struct ticket *t)
{
	struct dlk_ticket *b = &t->base;
	struct dlk_error err = { 0 };

	return b->session->backend->release_begin(b, dlk_now() + PATIENCE_NS,
						  &err);
}

void ticket_give(struct ticket *t)
{
	CHECK_OK(ticket_release(t));
}

void ticket_turn(struct ticket *t)
{
	EVENTUALLY(ticket_ask(t) == DLK_GRANTED);
	ticket_give(t);
}
