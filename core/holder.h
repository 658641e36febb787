/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holder in a message: of a lock busy until the caller's deadline.
 */
#ifndef DLOCK_CORE_HOLDER_H
#define DLOCK_CORE_HOLDER_H

#include "core/claim.h"
#include "core/record.h"

/* With mu held: EBUSY, with a message, if a claim of this client holds the lock
 * alone; else 0. */
int dlki_holder_here(const struct dlki_record *r, struct dlk_error *err);

/* EBUSY.  The message says so if a thread of this client holds the lock; else
 * it has the label of a holder if the store reports one by `limit`.  That costs
 * a request, so a client asks ten times a second at most; else "others" hold
 * it.  `beside`, which may be NULL, is no other.  Call this without the
 * client's mu. */
int dlki_holder_fail(struct dlki_record *r, const struct dlki_claim *beside,
		     dlk_time limit, struct dlk_error *err);

/* Ask the store for the holders, by `limit`: 0 with an answer.  Without mu, as
 * a call of the client. */
int dlki_holder_ask(struct dlki_record *r,
		    void (*each)(const struct dlock_participant *p, void *arg),
		    void *arg, dlk_time limit);

#endif
