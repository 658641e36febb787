/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store's session by the engine, behind dlock/backend.h: the engine, a loop
 * thread, and the core's calls with a wait for ops.  See core/loop/call.h.
 *
 * LOCKS
 *  The engine's mutex protects all members but constants.  With the mutex held,
 *  a thread may call any service of the core but dlk_listen().
 */
#ifndef DLOCK_CORE_LOOP_SESSION_H
#define DLOCK_CORE_LOOP_SESSION_H

#include <dlock/backend.h>

#include "core/base/patience.h"
#include "core/loop/drive.h"
#include "core/net/address.h"

struct dlki_opcall;

struct dlki_session {
	/* Constant once opened. */
	struct dlk_session *base; /* the core's */
	struct dlki_world *world;
	struct dlki_engine *engine;
	char server[DLKI_ADDRESS_TEXT]; /* for messages */
	struct dlki_tls_context *tls; /* NULL: plain connections */
	struct dlki_rouser rouser; /* of waits for the engine */

	/* Under the engine's mutex. */
	int opening;               /* until the greeting is over ... */
	struct dlki_waiter greeting; /* ... which this waits for */
	LIST_HEAD(, dlki_opcall) calls; /* under way */
};

/* The core's session, and where the URI's server is: sets path, or host and
 * port, of the options. */
void dlki_session_place(struct dlki_session *s, struct dlk_session *base,
			uint16_t default_port,
			struct dlki_engine_options *options);

/* The URI is of a scheme with DLKI_TLS_PARAMS: make the context, and set the
 * options' tls.  0, or see err. */
int dlki_session_secure(struct dlki_session *s,
			struct dlki_engine_options *options,
			struct dlk_error *err);

/*
 * Make an engine with these options, which begins to connect.  Sets the
 * options' world, URI, label and times.  0, or see err: then all is freed.
 */
int dlki_session_begin(struct dlki_session *s,
		       struct dlki_engine_options *options,
		       struct dlk_error *err);

/* Have dlock-loop connect, while this thread does other work. */
void dlki_session_start(struct dlki_session *s);

/* Wait, once, until the server has greeted us or cannot.  0, or see err: the
 * engine goes on trying after EUNREACHABLE, and the session is to be closed. */
int dlki_session_greeted(struct dlki_session *s, dlk_time deadline,
			 struct dlk_error *err);

/* Begin, and wait; a failure frees all. */
int dlki_session_open(struct dlki_session *s,
		      struct dlki_engine_options *options, dlk_time deadline,
		      struct dlk_error *err);

/* Free all; a closed session stays closed. */
void dlki_session_close(struct dlki_session *s);

/* Functions of dlki_news that are the same for every store; `arg` is the
 * session. */
void dlki_session_up(void *arg, const struct dlki_agreed *agreed, dlk_time now);
void dlki_session_down(void *arg, dlk_time now);
void dlki_session_moved(void *arg, const char *text, dlk_time now);
void dlki_session_warn(void *arg, const char *text);

/* The core never calls a backend in a forked child. */
static inline void dlki_session_lock(const struct dlki_session *s)
{
	(void)dlki_lock(s->engine);
}

static inline void dlki_session_unlock(const struct dlki_session *s)
{
	dlki_unlock(s->engine);
}

#endif
