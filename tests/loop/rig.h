/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine on a scripted world, with counted ends of ops.
 */
#ifndef TESTS_LOOP_RIG_H
#define TESTS_LOOP_RIG_H

#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "tests/loop/lines.h"
#include "tests/loop/script.h"

enum { RIG_OPS = 64 };

struct rig {
	struct script world;
	struct dlki_engine *e;
	struct dlki_op ops[RIG_OPS];
	int ended[RIG_OPS]; /* how often done() came */
	dlk_time ended_at[RIG_OPS];
	char error[RIG_OPS][64];
	int order[RIG_OPS], n_ended; /* the ops, as they ended */

	/* News. */
	int pushed, woken, looked, up, down, moved, warned, wanted;
	int unheard;
	char told[400]; /* by the last of down, moved,
			 * warned and unheard */
	uint64_t news_id, news_token, news_clock;
	char owner[64]; /* of wanted */
};

/* The rig of this test. */
extern struct rig rig;

/* Of the next engine; NULL: plain connections. */
extern struct dlki_tls_context *rig_tls;

/* With the lines protocol; `label` as in lines.h.  127.0.0.1:7000 and so on. */
void rig_init(const char *label, size_t n_addresses);

/* ... with a name for the test's world to resolve, or a path. */
void rig_init_host(const char *label, const char *host, const char *path);

/* ... and with the first connection greeted: socket 0. */
void rig_init_up(const char *label);
/* ... may be called again, and is the .fini of the suites. */
void rig_free(void);

/* A turn over both sets, in no time. */
void rig_turn(void);

/* ... in which time may pass. */
void rig_turn_until(dlk_time until);

/* The server sends, accepts, refuses or closes at this socket; and a turn. */
void rig_say(int sock, const char *text);
void rig_connect(int sock);
void rig_refuse(int sock, int error);
void rig_end(int sock);

/* Submit op i; and push. */
void rig_queue(int i, enum dlki_verb verb, dlk_time deadline);
void rig_submit(int i, enum dlki_verb verb, dlk_time deadline);
void rig_push(void);

#endif
