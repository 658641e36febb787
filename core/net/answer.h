/* SPDX-License-Identifier: Apache-2.0 */
/* An answer of the system's resolver. */
#ifndef DLOCK_CORE_NET_ANSWER_H
#define DLOCK_CORE_NET_ANSWER_H

#include "core/world/world.h"

/* Most addresses that a name may have here. */
enum { DLKI_ADDRESSES = 32 };

struct dlki_found {
	int rc, errnum; /* EAI_ and, for EAI_SYSTEM, errno */
	size_t n;       /* more than DLKI_ADDRESSES: too many */
	struct dlki_address v[DLKI_ADDRESSES];
};

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
