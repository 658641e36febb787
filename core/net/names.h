/* SPDX-License-Identifier: Apache-2.0 */
/* The names being resolved, each by a thread that may outlive the callers, and
 * the last answers: the inside of resolve.h and resolver.h. */
#ifndef DLOCK_CORE_NET_NAMES_H
#define DLOCK_CORE_NET_NAMES_H

#include <dlock/backend.h>
#include <sys/queue.h>

#include "core/base/common.h"
#include "core/net/answer.h"

/* A caller without a thread; answered() is called with mu held. */
struct listener {
	void (*answered)(struct listener *l);
	LIST_ENTRY(listener) in_listeners;
};

struct names;

struct name {
	struct names *all;
	struct name *next;
	unsigned int refs; /* by callers, and the thread */
	int looking;       /* a thread looks the name up */
	dlk_time since;    /* ... since then */
	uint64_t answers;  /* how many answers there were, */
	struct dlki_answer last;
	struct addrinfo *good; /* and the last good answer */
	LIST_HEAD(, listener) listeners;
	char port[6];
	char host[];
};

/* The names of a process.  The mutex is a leaf, the condition tells of answers,
 * and no thread is common. */
struct names {
	struct dlki_common base;
	struct name *first;
	size_t n;
};

/* Return the process's names, made by the first call.  NULL: no memory. */
struct names *dlki_names_here(void);

/* ---- With mu held -------------------------------------------------------- */

/* Find or add the name.  NULL: no memory. */
struct name *dlki_names_find_or_add(struct names *all, const char *host,
				    const char *port);

/* Have a thread look the name up, unless a thread already does.  0 or an errno
 * value. */
int dlki_names_look_up(struct name *name);

/* Forget the names without a waiting caller, if no client is left or if the
 * names are many. */
void dlki_names_forget(struct names *all);

#endif
