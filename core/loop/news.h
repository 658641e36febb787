/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News of the store, from the protocol's call until their delivery.
 */
#ifndef DLOCK_CORE_LOOP_NEWS_H
#define DLOCK_CORE_LOOP_NEWS_H

#include "core/loop/state.h"

/* Have memory for the first news: an opening waits for the news that the server
 * is up.  0, or ENOMEM. */
int dlki_news_begin(struct dlki_engine *e);

/* As in struct dlki_news. */
void dlki_news_up(struct dlki_engine *e);

/* A link in NEWS is down. */
void dlki_news_unheard(struct dlki_engine *e, const char *why);
void dlki_news_down(struct dlki_engine *e);
void dlki_news_moved(struct dlki_engine *e);

/* Forget news of claims, the first `from` news aside: a foreign server has told
 * them. */
void dlki_news_drop(struct dlki_engine *e, size_t from);

/* Are any to be delivered? */
static inline int dlki_news_are_due(const struct dlki_engine *e)
{
	return e->n_told > 0 || e->deaf || e->lost || e->moved;
}

/* Deliver the news so far. */
void dlki_news_deliver(struct dlki_engine *e);

/* When the engine ends. */
void dlki_news_free(struct dlki_engine *e);

#endif
