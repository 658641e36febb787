/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: the place for bytes, time and connections.
 *
 * The core submits ops.  While the main link is up, the engine hands the ops to
 * the store's protocol.  The engine writes the protocol's bytes, reads the
 * server's bytes, and calls done().  It connects lost links again.  A request
 * without a byte in the kernel is handed to the protocol again; any other ends
 * UNANSWERED.
 *
 * A turn of the loop is: wait, take `now`, read, dispatch, write.  Any thread
 * may run a turn; core/loop/drive.h says which thread does.  A simulation calls
 * dlki_turn() itself.
 *
 * LOCKS
 *  mu protects everything here and in ops, links, alarms and the protocol.
 *  During read, write and wait of the world mu is free.  done() and the
 *  functions of struct dlki_news are called with mu held: they may submit and
 *  cancel ops, and must not block, call a turn, or free the engine.
 *
 * A forked child must not touch the parent's engine: dlki_lock() refuses, and
 * dlki_engine_free() returns at once.
 */
#ifndef DLOCK_CORE_LOOP_ENGINE_H
#define DLOCK_CORE_LOOP_ENGINE_H

#include "core/base/heap.h"
#include "core/loop/op.h"
#include "core/loop/protocol.h"
#include "core/net/endpoint.h"
#include "core/world/world.h"

struct dlki_tls_context;

/* News of the store.  Any function may be NULL. */
struct dlki_news {
	/* As dlki_pushed() and dlki_wake(); ids may be stale. */
	void (*pushed)(void *arg, uint64_t id, uint64_t token,
		       uint64_t store_clock_us, int64_t lease_ms, dlk_time now);
	void (*wake)(void *arg, uint64_t id, dlk_time now);

	/* Every parked claim asks again, and every watched claim may be
	 * wanted. */
	void (*look_again)(void *arg, dlk_time now);

	/* As dlki_wanted(), also for a claim whose WATCH is under way; the
	 * owner may be of an ended claim. */
	void (*wanted)(void *arg, const char *owner, dlk_time now);

	/* A warning for the client's log. */
	void (*warn)(void *arg, const char *text);

	/* The answer to a request written at `since` has come, too late for the
	 * op.  From this the client learns how far away the server is.
	 * Functions of the protocol are on the stack: must not call the
	 * engine. */
	void (*late)(void *arg, dlk_time since, dlk_time now);

	/* A link in NEWS was lost, or could not be connected, and why.  When
	 * the link is up again, look_again() follows. */
	void (*unheard)(void *arg, const char *why);

	/* The main link is up; store and client have agreed. */
	void (*up)(void *arg, const struct dlki_agreed *agreed, dlk_time now);

	/* Every way to the server was tried in vain; see dlki_engine_why().
	 * The next try follows a pause, or never comes if the server refuses us
	 * for good. */
	void (*down)(void *arg, dlk_time now);

	/* Another server is the client's from now on; `text` says so to people.
	 * Claims may be gone: every hold is to be checked.  up() follows. */
	void (*moved)(void *arg, const char *text, dlk_time now);
};

struct dlki_engine_options {
	struct dlki_world *world;             /* borrowed */
	const struct dlki_protocol *protocol; /* borrowed */
	const struct dlk_uri *uri;            /* borrowed */
	const char *label;                    /* borrowed */
	const void *given;    /* for the protocol: borrowed, or NULL */

	struct dlki_place place; /* the server's: copied.  Without any, a store
				  * without links */
	const struct dlki_news *news;         /* borrowed, or NULL */
	void *arg;                            /* of the news' functions */
	struct dlki_tls_context *tls; /* borrowed: core/net/tls.h.  NULL:
				       * plain connections */
	int64_t connect_ms;  /* a connection has so long to be greeted, until
			      * the server is known */
	int64_t patience_ms; /* a request has so long to be answered; then the
			      * connection is cut.  A connection to the known
			      * server is greeted within this time, too */
};

/* Make an engine and begin to connect.  NULL: see err. */
struct dlki_engine *dlki_engine_new(const struct dlki_engine_options *options,
				    struct dlk_error *err);

/* End every remaining op, close the links and the protocol, and free.  No
 * thread uses the engine any longer, and dlki_drive_end() has been called if
 * dlki_drive_begin() was. */
void dlki_engine_free(struct dlki_engine *e);

/* 0, or EFORKED: then the mutex is not locked. */
int dlki_lock(struct dlki_engine *e);
void dlki_unlock(struct dlki_engine *e);

/* ---- With mu held -------------------------------------------------------- */

/* Queue the op.  No byte is sent yet: see dlki_push().  0; or ENOMEM, and the
 * op is not submitted. */
int dlki_submit(struct dlki_engine *e, struct dlki_op *op);

/* Bring the op's end forward: done() follows in the next turn or push, UNSENT
 * if the store never sees the request.  An idle op is left alone. */
void dlki_cancel(struct dlki_op *op);

/* Hand the queue to the protocol, ring due alarms, and write.  For a thread
 * after a submission.  mu is released meanwhile. */
void dlki_push(struct dlki_engine *e);

/*
 * A turn: wait in the sets of the mask until an event or `until`, and act on
 * it.  mu is released meanwhile.  At most one thread at a time for each set.
 */
void dlki_turn(struct dlki_engine *e, unsigned int sets, dlk_time until);

/*
 * Likewise, by a leading thread that waits for an answer in ANSWERS.  If the
 * answer is all to wait for, the thread waits in await() of the world: less
 * work than wait() and read(), but only bytes end the wait before a few
 * milliseconds are over.
 */
void dlki_turn_for_answer(struct dlki_engine *e, unsigned int sets,
			  dlk_time until);

/* The protocol's own memory. */
const struct dlki_store *dlki_engine_store(const struct dlki_engine *e);

/* The main link is up. */
int dlki_engine_is_up(const struct dlki_engine *e);

/* Return how long the latest greeting of the main link took, about a round
 * trip; 0: no greeting yet. */
dlk_time dlki_engine_way(const struct dlki_engine *e);

/* Say why the main link was lost last, or not connected; `code` 0: never lost.
 * During a look-up: the name.  During a handshake of TLS: how far the handshake
 * came. */
void dlki_engine_why(const struct dlki_engine *e, struct dlk_error *out);

/* Have no link wait for the next try to connect.  Needs a push behind it.
 * Returns whether a try of the main link is under way already. */
int dlki_engine_hurry(struct dlki_engine *e);

#endif
