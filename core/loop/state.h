/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's own structure, for the files of this folder, their tests, and
 * the simulation's alarms.
 */
#ifndef DLOCK_CORE_LOOP_STATE_H
#define DLOCK_CORE_LOOP_STATE_H

#include <pthread.h>

#include "core/base/heap.h"
#include "core/loop/engine.h"
#include "core/loop/op.h"
#include "core/loop/protocol.h"
#include "core/net/endpoint.h"
#include "core/net/link.h"

struct dlki_drive;

TAILQ_HEAD(dlki_ops, dlki_op);

enum dlki_news_kind {
	DLKI_NEWS_PUSHED,
	DLKI_NEWS_WAKE,
	DLKI_NEWS_WANTED,
	DLKI_NEWS_WARN,
	DLKI_NEWS_UNHEARD,
	DLKI_NEWS_UP,
	DLKI_NEWS_DOWN
};

struct dlki_told {
	enum dlki_news_kind kind;
	uint64_t id, token, store_clock_us;
	int64_t lease_ms;
	char *text; /* WANTED: the owner; WARN: of it; from the heap */
};

struct dlki_engine {
	/* Constant. */
	struct dlki_world *world;
	const struct dlki_protocol *protocol;
	const struct dlki_news *news;
	void *arg;
	dlk_time connect_ns, patience_ns;
	struct dlki_tls_context *tls; /* or NULL */
	uint64_t process;
	uint64_t seed; /* of the links' backoff */
	char *in[DLKI_SETS]; /* DLKI_INPUT bytes for the set's leader */

	pthread_mutex_t mu; /* protects the members below */
	struct dlki_store *store;
	struct dlki_agreed agreed;
	dlk_time now; /* of the turn or push; never goes back */
	struct dlki_alarms alarms; /* one set outside of a turn or push needs a
				    * push behind it */
	struct dlki_alarm store_alarm;
	struct dlki_link *links[DLKI_LINKS]; /* the main link first */
	size_t n_links;
	uint64_t tries; /* to connect the main link, so far */
	struct dlki_endpoint endpoint;
	struct dlki_lookup lookup; /* of the endpoint's name */
	dlk_time look_until;       /* the main link's longest wait for it */
	struct dlki_ops queue;     /* to be submitted to the protocol */
	struct dlki_ops held;   /* ... when dlki_resume() comes */
	struct dlki_ops ended;     /* done() is due */
	struct dlki_told *told;    /* news to be delivered */
	size_t n_told, told_room;
	int deaf;                  /* news were lost: all look again */
	unsigned int lost;         /* ... of UP, DOWN and UNHEARD: a bit each */
	int moved;                 /* to be told */
	struct dlk_error *refused; /* for good, and why */

	/* Of the thread waiting in the set, if any. */
	int in_wait[DLKI_SETS];
	dlk_time until[DLKI_SETS];

	/* Have dlock-loop look at `at`, if no other does.  NULL:
	 * there is no such thread.  core/loop/drive.c. */
	void (*nudge)(struct dlki_engine *e, dlk_time at);
	struct dlki_drive *drive;

	/* A bit for each condition to signal in dlki_unlock(). */
	uint64_t due;
	void (*wake)(struct dlki_engine *e, uint64_t conds);
};

#endif
