/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of a server's reply, or of a missing reply.
 */
#ifndef DLOCK_BACKENDS_ZK_REPLY_H
#define DLOCK_BACKENDS_ZK_REPLY_H

#include "backends/zk/zk.h"
#include "core/base/error.h"

struct zk_call;

/* Is `rc` from the server, which has taken the request? */
int dlki_zk_answered(int rc);
/* Does `rc` mean that the servers have agreed on this write? */
int dlki_zk_agreed(const struct zk_call *call, int rc);
/* The meaning of the answer to dlki_zk_proof(): 0, the session stands. */
int dlki_zk_proven(const struct zk_call *proof, struct dlk_error *err);

/* The result of a call, in the core's words; 0 for ZOK.  NULL is ENOMEM. */
int dlki_zk_reason_of(const struct zk_call *call, const char *what,
		      struct dlk_error *err);

static inline int dlki_zk_reason(const struct zk_call *call, const char *what,
				 struct dlk_error *err)
{
	if (!call)
		return dlki_nomem(err);
	return dlki_zk_reason_of(call, what, err);
}

#endif
