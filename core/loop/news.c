/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/news.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

#define STATES (DLKI_BIT(DLKI_NEWS_UP) | DLKI_BIT(DLKI_NEWS_DOWN))

static int make_room(struct dlki_engine *e, size_t room)
{
	struct dlki_told *v = realloc(e->told, room * sizeof(*v));

	if (!v)
		return DLOCK_ENOMEM;
	e->told = v;
	e->told_room = room;
	return 0;
}

int dlki_news_begin(struct dlki_engine *e)
{
	return make_room(e, FIRST_ROOM);
}

/* Without memory for the news, every parked claim looks again, and a watched
 * claim may be wanted; a lost claim fails at the next renewal; a warning is
 * lost; and the state of a link is told behind the other news. */
static void tell(struct dlki_engine *e, struct dlki_told news)
{
	if (DLKI_BIT(news.kind) & STATES)
		e->lost &= ~STATES; /* only the last counts */
	if (e->n_told == e->told_room && make_room(e, 2 * e->told_room) != 0) {
		e->deaf = 1;
		e->lost |= DLKI_BIT(news.kind);
		free(news.text);
		return;
	}
	e->told[e->n_told++] = news;
}

void dlki_pushed(struct dlki_store *s, uint64_t id, uint64_t token,
		 uint64_t store_clock_us, int64_t lease_ms)
{
	tell(s->engine, (struct dlki_told){
				.kind = DLKI_NEWS_PUSHED,
				.id = id,
				.token = token,
				.store_clock_us = store_clock_us,
				.lease_ms = lease_ms,
			});
}

void dlki_wake(struct dlki_store *s, uint64_t id)
{
	tell(s->engine, (struct dlki_told){ .kind = DLKI_NEWS_WAKE, .id = id });
}

void dlki_wanted(struct dlki_store *s, const char *owner)
{
	struct dlki_told news = {
		.kind = DLKI_NEWS_WANTED,
		.text = strdup(owner),
	};

	if (news.text)
		tell(s->engine, news);
	else
		s->engine->deaf = 1;
}

/* For the log: the text may get lost. */
static void tell_text(struct dlki_engine *e, enum dlki_news_kind kind,
		      const char *text)
{
	struct dlki_told news = { .kind = kind, .text = strdup(text) };

	if (news.text)
		tell(e, news);
	else
		e->lost |= DLKI_BIT(kind);
}

void dlki_warn(struct dlki_store *s, const char *text)
{
	tell_text(s->engine, DLKI_NEWS_WARN, text);
}

void dlki_answered_late(struct dlki_store *s, dlk_time since)
{
	const struct dlki_engine *e = s->engine;

	if (e->news->late)
		e->news->late(e->arg, since, e->now);
}

void dlki_news_unheard(struct dlki_engine *e, const char *why)
{
	tell_text(e, DLKI_NEWS_UNHEARD, why);
}

void dlki_look_again(struct dlki_store *s)
{
	s->engine->deaf = 1;
}

void dlki_news_up(struct dlki_engine *e)
{
	tell(e, (struct dlki_told){ .kind = DLKI_NEWS_UP });
}

void dlki_news_down(struct dlki_engine *e)
{
	tell(e, (struct dlki_told){ .kind = DLKI_NEWS_DOWN });
}

void dlki_news_drop(struct dlki_engine *e, size_t from)
{
	size_t n = from;

	for (size_t i = from; i < e->n_told; i++) {
		enum dlki_news_kind kind = e->told[i].kind;

		if (kind == DLKI_NEWS_WARN || kind == DLKI_NEWS_UNHEARD ||
		    kind == DLKI_NEWS_UP || kind == DLKI_NEWS_DOWN)
			e->told[n++] = e->told[i];
		else
			free(e->told[i].text);
	}
	if (n < e->n_told)
		e->n_told = n;
}

void dlki_news_moved(struct dlki_engine *e)
{
	dlki_news_drop(e, 0);
	e->moved = 1;
}

static void deliver_moved(const struct dlki_engine *e)
{
	char text[240];

	snprintf(
		text, sizeof(text),
		"%s is another server, or was restarted: every hold is checked",
		e->endpoint.who);
	if (e->news->moved)
		e->news->moved(e->arg, text, e->now);
}

static void deliver(const struct dlki_engine *e, const struct dlki_told *n)
{
	const struct dlki_news *to = e->news;

	switch (n->kind) {
	case DLKI_NEWS_PUSHED:
		if (to->pushed)
			to->pushed(e->arg, n->id, n->token, n->store_clock_us,
				   n->lease_ms, e->now);
		break;
	case DLKI_NEWS_WAKE:
		if (to->wake)
			to->wake(e->arg, n->id, e->now);
		break;
	case DLKI_NEWS_WANTED:
		if (to->wanted)
			to->wanted(e->arg, n->text, e->now);
		break;
	case DLKI_NEWS_WARN:
		if (to->warn)
			to->warn(e->arg, n->text);
		break;
	case DLKI_NEWS_UNHEARD:
		if (to->unheard)
			to->unheard(e->arg, n->text);
		break;
	case DLKI_NEWS_UP:
		if (to->up)
			to->up(e->arg, &e->agreed, e->now);
		break;
	case DLKI_NEWS_DOWN:
		if (to->down)
			to->down(e->arg, e->now);
		break;
	}
}

static void deliver_lost(const struct dlki_engine *e, unsigned int lost)
{
	if ((lost & DLKI_BIT(DLKI_NEWS_UNHEARD)) && e->news->unheard)
		e->news->unheard(e->arg, "no memory to say why");
	if ((lost & DLKI_BIT(DLKI_NEWS_UP)) && e->news->up)
		e->news->up(e->arg, &e->agreed, e->now);
	if ((lost & DLKI_BIT(DLKI_NEWS_DOWN)) && e->news->down)
		e->news->down(e->arg, e->now);
}

/* The functions may submit and cancel, which adds no news. */
void dlki_news_deliver(struct dlki_engine *e)
{
	int deaf = e->deaf, moved = e->moved;
	unsigned int lost = e->lost;

	e->deaf = e->moved = 0;
	e->lost = 0;
	if (moved)
		deliver_moved(e);
	for (size_t i = 0; i < e->n_told; i++) {
		deliver(e, &e->told[i]);
		free(e->told[i].text);
	}
	e->n_told = 0;
	deliver_lost(e, lost);
	if (deaf && e->news->look_again)
		e->news->look_again(e->arg, e->now);
}

void dlki_news_free(struct dlki_engine *e)
{
	for (size_t i = 0; i < e->n_told; i++)
		free(e->told[i].text);
	free(e->told);
}
