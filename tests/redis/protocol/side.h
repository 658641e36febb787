/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines with the Redis protocol and a real server, and claims of theirs.
 * Tests have side_setup as .init and side_teardown as .fini.
 */
#ifndef TESTS_REDIS_PROTOCOL_SIDE_H
#define TESTS_REDIS_PROTOCOL_SIDE_H

#include "core/loop/drive.h"
#include "core/loop/state.h"
#include "core/name.h"
#include "lab/servers/redis.h"

/* Long: no test waits for a lease, and no poll may stand in for a grant
 * message. */
enum { TTL_MS = 60000 };

struct side {
	struct dlki_engine *engine;
	struct dlki_world *world;
	struct dlk_uri *uri;

	/* News. */
	struct dlki_waiter *parked;
	uint64_t pushed_id, pushed_token, pushed_clock;
	int looks, woken, wanted, warned;
	char owner[40];
};

extern struct lab_server *server;
extern struct side side_a, side_b;

/* `login` is of the URI, ":password@"; `query` is more of it, "&key=plain". */
void side_open(struct side *s, const char *login, const char *query);
void side_close(struct side *s);

void side_setup(void); /* a server and both sides */
void side_teardown(void);

struct claim {
	struct dlki_op op;
	struct dlki_waiter waiter;
	struct side *side;
	struct dlk_request request;
	char owner[33];
	char key[DLKI_KEY_SIZE];
	char error[240];
	uint64_t token;
};

void claim_prepare(struct claim *c, struct side *s, int owner,
		   enum dlk_kind kind, enum dlk_mode mode, uint32_t limit);

/* A verb, to the end; after AGAIN anew.  Other members of c->op may be set. */
enum dlki_outcome claim_call(struct claim *c, enum dlki_verb verb);

/* Submit without waiting, and wait. */
void claim_begin(struct claim *c, enum dlki_verb verb);
enum dlki_outcome claim_end(struct claim *c);

/* BUSY, and the ear is up from now on. */
void claim_ask_in_vain(struct claim *c);

/* Park until the claim is granted by a message. */
void claim_await_push(struct claim *c);

/* Park until *count has counted so many news. */
void side_await(struct side *s, const int *count, int wanted);

#endif
