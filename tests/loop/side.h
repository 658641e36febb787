/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines with a store's protocol and a real server, and claims of theirs.
 * Tests have side_teardown as .fini.
 */
#ifndef TESTS_LOOP_SIDE_H
#define TESTS_LOOP_SIDE_H

#include "core/loop/drive.h"
#include "core/loop/state.h"
#include "core/name.h"
#include "lab/servers/server.h"

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
	int64_t pushed_lease_ms;
	int looks, woken, wanted, warned;
	char owner[40];
};

extern struct lab_server *server;
extern struct side side_a, side_b;

struct side_store {
	const struct dlki_protocol *protocol;
	const struct dlk_param *params;
	const char *before; /* the URI up to the host: "redis://:password@" */
};

/* `query` is more of the URI, "&key=plain". */
void side_open(struct side *s, const struct side_store *store,
	       const char *query);
void side_close(struct side *s);
void side_teardown(void); /* both sides and the server */

struct claim {
	struct dlki_op op;
	struct dlki_waiter waiter;
	struct side *side;
	struct dlk_request request;
	char owner[33];
	char key[DLKI_KEY_SIZE];
	char error[240];
	uint64_t token;
	_Alignas(max_align_t) char memory[400]; /* the store's */
};

void claim_prepare(struct claim *c, struct side *s, int owner,
		   enum dlk_kind kind, enum dlk_mode mode, uint32_t limit);

/* A verb, to the end; after AGAIN anew.  Other members of c->op may be set. */
enum dlki_outcome claim_call(struct claim *c, enum dlki_verb verb);

/* Submit without waiting, and wait. */
void claim_begin(struct claim *c, enum dlki_verb verb);
enum dlki_outcome claim_end(struct claim *c);

/* Park until *count has counted so many news. */
void side_await(struct side *s, const int *count, int wanted);

#endif
