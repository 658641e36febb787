/* SPDX-License-Identifier: Apache-2.0 */
/* The names that are being resolved, each by a thread that may outlive its
 * callers, and their last answers: the inside of resolve.h and resolver.h. */
#ifndef DLOCK_CORE_NET_NAMES_H
#define DLOCK_CORE_NET_NAMES_H

#include <dlock/backend_net.h>

#include <pthread.h>

#include "core/net/answer.h"

/* Of a caller without a thread; answered() is called with mu held. */
struct listener {
	void (*answered)(struct listener *l);
	struct listener *next;
};

struct name {
	struct name *next;
	unsigned int refs; /* of callers, and of the thread */
	int looking;       /* a thread is at it, */
	dlk_time since;    /* since then */
	uint64_t answers;  /* how many there were, */
	struct dlki_answer last;
	struct addrinfo *good; /* and what the last good one was */
	struct listener *listeners;
	char port[6];
	char host[];
};

/* What a process knows.  A forked child, where mu may be locked for ever, makes
 * one of its own. */
struct names {
	/* Constant. */
	uint64_t process;
	struct names *before; /* the parent's, still reachable */

	/* mu protects all that follows; it is a leaf. */
	pthread_mutex_t mu;
	pthread_cond_t answered;
	struct name *first;
	size_t n;
	unsigned int users;
};

/* NULL: no memory. */
struct names *dlki_names_here(void);

/* ---- With mu held -------------------------------------------------------- */

/* NULL: no memory. */
struct name *dlki_names_find_or_add(struct names *all, const char *host,
				    const char *port);

/* Have a thread look the name up, unless one is at it.  0 or an errno value. */
int dlki_names_look_up(struct names *all, struct name *name);

/* Forget the names that nobody waits for, if no client is left or if they are
 * many. */
void dlki_names_forget(struct names *all);

/* ---- Without ------------------------------------------------------------- */

/* Have a thread resolve the name, unless one is doing so.  *out is the answer,
 * or if none came by the deadline, the last good one.  0, or an error code if
 * there is neither. */
int dlki_names_ask(struct dlki_answer *out, const char *host, const char *port,
		   const dlk_flag *stop, dlk_time deadline,
		   struct dlk_error *err);

#endif
