/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine in a scripted world, with counted ends of ops and news: the base of
 * rig.h, for the lines protocol, and of store_rig.h, for a store's.
 */
#ifndef TESTS_LOOP_RIG_NEWS_H
#define TESTS_LOOP_RIG_NEWS_H

#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "tests/loop/script.h"

enum { RIG_OPS = 64 };

struct rig {
	struct script world;
	struct dlki_engine *e;
	struct dlk_uri *uri;   /* of a store's rig */
	struct dlki_op ops[RIG_OPS];
	void *claims[RIG_OPS]; /* of ops without a claim of the test's */
	int ended[RIG_OPS];    /* how often done() came */
	dlk_time ended_at[RIG_OPS];
	char errors[RIG_OPS][240];

	/* News. */
	int pushed, woken, looked, up, down, moved, warned, wanted, unheard;
	int late;
	dlk_time late_since;
	int64_t lease_ms;      /* as agreed */
	char told[400];        /* by the last of down, moved, warned and
				* unheard */
	char warning[400];     /* by the last of moved and warned */
	uint64_t news_id, news_token, news_clock;
	int64_t news_lease_ms;
	char owner[64];        /* of wanted */
};

/* The rig of this test. */
extern struct rig rig;

/* Begins the world, with no engine. */
void rig_clear(void);

/* Makes the engine by `options`, of which the rig gives the world, the news and
 * connect_ms; and locks the engine. */
void rig_begin_engine(struct dlki_engine_options options);

/* Ends the engine and the world. */
void rig_end_engine(void);

/* For the done() of an op of the rig. */
void rig_done(struct dlki_op *op, dlk_time now);

/* A turn over both sets, in no time. */
void rig_turn(void);

/* ... in which time may pass. */
void rig_turn_until(dlk_time until);

/* The server sends at this socket; and a turn. */
void rig_say(int sock, const char *text);

#endif
