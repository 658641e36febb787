/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's name to addresses: by a look-up, without waiting, or under a
 * deadline.
 *
 * A thread asks the system, a thread for each name in this process, and is left
 * behind if the look-up is ended first.  A world with an own resolve() is asked
 * instead.
 *
 * LOCKS
 *  The owner's: the mutex of the engine.  The thread touches the look-up under
 *  the names' mutex, a leaf, and only kicks the world.
 */
#ifndef DLOCK_CORE_NET_RESOLVER_H
#define DLOCK_CORE_NET_RESOLVER_H

#include "core/net/names.h"
#include "core/world/world.h"

struct dlki_lookup {
	struct dlki_world *world; /* borrowed.  NULL: no look-up is under way */
	const char *host;         /* borrowed */
	uint16_t port;

	/* Of a thread, under the names' mutex; `all` is NULL if there is no
	 * memory. */
	struct names *all;
	struct name *name;
	struct listener listener;
	uint64_t before; /* answers before the look-up */
};

/* Begin a look-up.  When the answer is there, ANSWERS is kicked. */
void dlki_lookup_begin(struct dlki_lookup *l, struct dlki_world *world,
		       const char *host, uint16_t port);

/* Take the answer.  1: *out is the answer, and the look-up is over.  0: not
 * yet. */
int dlki_lookup_take(struct dlki_lookup *l, struct dlki_found *out);

/* Forget the look-up, if one is under way. */
void dlki_lookup_end(struct dlki_lookup *l);

/* Parse an address without a look-up; EINVAL if `host` is a name. */
int dlki_lookup_literal(const char *host, uint16_t port,
			struct dlki_address *out);

/*
 * Find the addresses of `host`, a name or an address, and wait for them: 1 to
 * DLKI_ADDRESSES.  An address needs no look-up.  While the name service does
 * not answer, the last addresses are good.
 *
 * Errors: see dlki_answer_judge().  EUNREACHABLE, too, if no answer came in
 * time.
 *
 * `here`: this thread asks the system, however long that takes.
 */
int dlki_resolve(struct dlki_found *out, const char *host, uint16_t port,
		 int here, dlk_time deadline, struct dlk_error *err);

#endif
