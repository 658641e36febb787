/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine with a store's protocol in a scripted world: the test plays the
 * server.  A test has `rig_end` as .fini.
 */
#ifndef TESTS_LOOP_STORE_RIG_H
#define TESTS_LOOP_STORE_RIG_H

#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "tests/loop/script.h"

enum { RIG_OPS = 80, RIG_MAIN = 0 };

struct rig {
	struct script world;
	struct dlki_engine *engine;
	struct dlk_uri *uri;
	struct dlki_op ops[RIG_OPS];
	int ended[RIG_OPS]; /* how often done() came */
	char errors[RIG_OPS][240];
	void *claims[RIG_OPS]; /* of ops without a claim of the test's */

	/* News. */
	int looks, woken, pushed, wanted, warned, moved, late;
	dlk_time late_since;
	uint64_t news_id, news_token, news_clock;
	int64_t news_lease_ms;
	char owner[40], warning[400];
};

extern struct rig rig;

/* The owner is RIG_OWNER. */
extern struct dlk_request rig_request;
#define RIG_OWNER "00000000000000000000000000000001"

struct rig_store {
	const struct dlki_protocol *protocol;
	const struct dlk_param *params;
	uint16_t port;
	int64_t patience_ms;
};

/* Connect, and leave the greeting open. */
void rig_open(const struct rig_store *store, const char *uri);
void rig_end(void);

void rig_turn(void);

/* ... in which time may pass. */
void rig_turn_until(dlk_time until);

/* The server sends. */
void rig_say(int sock, const char *bytes);

/* ... and the same a byte at a time. */
void rig_say_slowly(int sock, const char *bytes);

/* Return the bytes sent by the client since the last call. */
const char *rig_heard(int sock);

/* Submit op i, with the other members as the test has set them; rig_submit():
 * and push. */
void rig_queue(int i, enum dlki_verb verb);
void rig_submit(int i, enum dlki_verb verb);

/* The same, and memory may be short: whether op i is submitted. */
int rig_try(int i, enum dlki_verb verb);

#endif
