/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine with the Redis protocol in a scripted world: the test plays the
 * server.  A test has `rig_end` as .fini.
 */
#ifndef TESTS_REDIS_PROTOCOL_RIG_H
#define TESTS_REDIS_PROTOCOL_RIG_H

#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "tests/loop/script.h"

enum { RIG_OPS = 80, RIG_MAIN = 0, RIG_EAR = 1 };

struct rig {
	struct script world;
	struct dlki_engine *engine;
	struct dlk_uri *uri;
	struct dlki_op ops[RIG_OPS];
	int ended[RIG_OPS]; /* how often done() came */
	char errors[RIG_OPS][240];

	/* News. */
	int looks, woken, pushed, wanted, warned;
	uint64_t news_id, news_token, news_clock;
	char owner[40], warning[240];
};

extern struct rig rig;

/* The owner is RIG_OWNER. */
extern struct dlk_request rig_request;
#define RIG_OWNER "00000000000000000000000000000001"

/* Connect, and leave the greeting open. */
void rig_begin(const char *uri);

/* ... and answer the greeting; `query` is more of the URI, "&key=plain". */
void rig_begin_up(const char *query);
void rig_end(void);

void rig_turn(void);

/* The server sends; a bulk string, or bytes. */
void rig_say_string(int sock, const char *text);
void rig_say(int sock, const char *bytes);

/* ... and the same a byte at a time. */
void rig_say_slowly(int sock, const char *bytes);

/* The bytes that the client has sent since the last call. */
const char *rig_heard(int sock);

/* Submit op i, with the other members as the test has set them; rig_submit():
 * and push. */
void rig_queue(int i, enum dlki_verb verb);
void rig_submit(int i, enum dlki_verb verb);

/* The same, and memory may be short: whether op i is submitted. */
int rig_try(int i, enum dlki_verb verb);

/* The ear is connected to, or `sock` is in the place of it; and subscribed. */
void rig_ear_connects(int sock);

/* BUSY for op 0, and the ear is up. */
void rig_raise_ear(void);

/* A message of the notification channel. */
void rig_publish(const char *text);

#endif
