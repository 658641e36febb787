/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names being looked up, each by a thread that may outlive the callers, and
 * the last answers.
 *
 * The system's resolver knows no deadline, so a thread looks a name up, one for
 * each name in this process.  All callers that want the name listen to that
 * thread.  The last addresses are kept while there are users.
 */
#ifndef DLOCK_CORE_NET_NAMES_H
#define DLOCK_CORE_NET_NAMES_H

#include <dlock/backend.h>
#include <sys/queue.h>

#include "core/base/common.h"
#include "core/world/world.h"

/* Most addresses that a name may have here. */
enum { DLKI_ADDRESSES = 32 };

/* An answer of the system's resolver. */
struct dlki_found {
	int rc, errnum; /* EAI_ and, for EAI_SYSTEM, errno */
	size_t n;       /* more than DLKI_ADDRESSES: too many */
	struct dlki_address v[DLKI_ADDRESSES];
};

/* A caller; answered() is called with mu held. */
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
	int rc, errnum;    /* the last answer without the addresses, */
	struct dlki_found good; /* and the last good answer */
	LIST_HEAD(, listener) listeners;
	uint16_t port;
	char host[];
};

/* The names of a process.  The mutex is a leaf, the condition tells of answers,
 * and no thread is common. */
struct names {
	struct dlki_common base;
	struct name *first;
	size_t n;
};

/* A client begins to need names, and is done with them.  The end of the last
 * client forgets all answers. */
void dlki_names_begin(void);
void dlki_names_end(void);

/* Return the process's names, made by the first call.  NULL: no memory. */
struct names *dlki_names_here(void);

/* ---- With mu held -------------------------------------------------------- */

/* Find or add the name.  NULL: no memory. */
struct name *dlki_names_find_or_add(struct names *all, const char *host,
				    uint16_t port);

/* Have a thread look the name up, unless a thread already does.  If no thread
 * can be started, the answer says so. */
void dlki_names_look_up(struct name *name);

/* Forget the names without a caller, if no client is left or if the names are
 * many. */
void dlki_names_forget(struct names *all);

/* ---- Answers ------------------------------------------------------------- */

/* Ask the system, however long it takes.  `flags` are AI_. */
void dlki_answer_get(struct dlki_found *out, const char *host, uint16_t port,
		     int flags);

/* Did the name service fail, rather than the name?  `rc` is EAI_. */
int dlki_answer_is_away(int rc);

/*
 * Judge an answer for `host`: 0 if it has 1 to DLKI_ADDRESSES addresses.
 * EUNREACHABLE: the name has none, or too many, or the name service does not
 * know.  ENOMEM, EEXHAUSTED, EDENIED, ESYSTEM: this process or host is short
 * of a resource.
 */
int dlki_answer_judge(const struct dlki_found *found, const char *host,
		      struct dlk_error *err);

#endif
