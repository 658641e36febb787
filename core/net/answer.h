/* SPDX-License-Identifier: Apache-2.0 */
/* What the system's resolver answers, in memory of our own. */
#ifndef DLOCK_CORE_NET_ANSWER_H
#define DLOCK_CORE_NET_ANSWER_H

struct addrinfo;

struct dlki_answer {
	struct addrinfo *list; /* for dlki_resolve_free() */
	int rc, errnum;        /* EAI_ and, for EAI_SYSTEM, errno */
};

/* Ask the system, however long it takes.  `flags` are AI_. */
struct dlki_answer dlki_answer_get(const char *host, const char *port,
				   int flags);

/* `list` is not empty.  NULL: no memory. */
struct addrinfo *dlki_answer_copy(const struct addrinfo *list);

#endif
