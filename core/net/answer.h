/* SPDX-License-Identifier: Apache-2.0 */
/* An answer of the system's resolver, in memory of our own. */
#ifndef DLOCK_CORE_NET_ANSWER_H
#define DLOCK_CORE_NET_ANSWER_H

#include <dlock/backend.h>

struct addrinfo;

struct dlki_answer {
	struct addrinfo *list; /* for dlki_resolve_free() */
	int rc, errnum;        /* EAI_ and, for EAI_SYSTEM, errno */
};

/* Ask the system, however long it takes.  `flags` are AI_. */
struct dlki_answer dlki_answer_get(const char *host, const char *port,
				   int flags);

/* Did the name service fail, rather than the name?  `rc` is EAI_. */
int dlki_answer_is_away(int rc);

/* Set the error of an answer without addresses; `rc` is not 0. */
int dlki_answer_failed(const struct dlki_answer *a, const char *host,
		       struct dlk_error *err);

/* Copy `list`, which is not empty.  NULL: no memory. */
struct addrinfo *dlki_answer_copy(const struct addrinfo *list);

#endif
