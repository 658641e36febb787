/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the scripts under scripts/.
 */
#ifndef DLOCK_REDIS_SCRIPT_H
#define DLOCK_REDIS_SCRIPT_H

#include <dlock/backend.h>

#include "backends/redis/texts.h"

struct redis_conn;
struct redis_reply;
struct redis_session;

struct redis_call {
	enum redis_script script;
	struct redis_arg key;
	struct redis_arg plain; /* key=plain: the plain key; else no text */
	const struct redis_arg *args;
	size_t n_args;
	int ping;      /* ask the server for a PONG ahead of it */
	dlk_time sent; /* out: when it was sent last; 0: never */
	int twice;     /* out: it may have run once before */
	int settled;   /* out: it was answered, or never sent */
	int crowded;   /* out: no connection came free for it */
};

/* Add the call to `out`, `with_text`: with the script's text. */
void dlki_redis_script_encode(const struct redis_session *s,
			      struct redis_commands *out,
			      const struct redis_call *call, int with_text);

/*
 * Call a script and wait for its answer.  The connection is the pool's and goes
 * back with dlki_redis_conn_put(); on failure there is none.
 *
 * The call is sent again when an idle connection turns out to be dead, and with
 * its text when the server does not know the script.  So a script may run
 * twice, and every script must bear that.
 */
int dlki_redis_script_call(struct redis_session *s, struct redis_call *call,
			   dlk_time deadline, struct redis_conn **conn,
			   const struct redis_reply **reply,
			   struct dlk_error *err);

/* The same for a script that answers a number of at least 0. */
int dlki_redis_script_number(struct redis_session *s, struct redis_call *call,
			     dlk_time deadline, int64_t *out,
			     struct dlk_error *err);

#endif
