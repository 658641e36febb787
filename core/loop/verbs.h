/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of a lock, other than a claim's: each is an op, with the lock's
 * server.
 */
#ifndef DLOCK_CORE_LOOP_VERBS_H
#define DLOCK_CORE_LOOP_VERBS_H

#include "core/base/verb.h"
#include "core/loop/session.h"

/* First member of the session of a store with these verbs. */
struct dlki_remote {
	struct dlk_session base;
	/* Return the session of the server that keeps the name.  Set by
	 * open(). */
	struct dlki_session *(*server_of)(struct dlk_session *s,
					  const char *name);
};

DLKI_VERB(inspect) dlki_remote_inspect;
DLKI_VERB(resize) dlki_remote_resize;
DLKI_VERB(break_) dlki_remote_break;
DLKI_VERB(revoke) dlki_remote_revoke;

#endif
