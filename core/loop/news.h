/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News of the store, from the protocol's call until their delivery.
 */
#ifndef DLOCK_CORE_LOOP_NEWS_H
#define DLOCK_CORE_LOOP_NEWS_H

#include "core/loop/state.h"

/* The main link is up. */
void dlki_news_up(struct dlki_engine *e);

/* Are any to be delivered? */
int dlki_news_are_due(const struct dlki_engine *e);

/* Deliver the news so far; returns how many. */
size_t dlki_news_deliver(struct dlki_engine *e);

/* When the engine ends. */
void dlki_news_free(struct dlki_engine *e);

#endif
