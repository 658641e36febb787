/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wish: an item that asks the owner at a lock's gate to give the lock up.
 * It names that owner, so that the next one is not meant.  The owner looks for
 * it when it renews, and takes it away.  It keeps nobody out.
 *
 * A waiter leaves a wish when one owner has been in its way for a while, and so
 * does a revoke.
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_WISH_H
#define DLOCK_BACKENDS_MEMCACHED_WISH_H

#include "batch.h"

/* The waiter was refused because of `owner`.  0, or the connection is spoilt,
 * see err. */
int dlki_memc_wish_after(struct memc_conn *c, struct memc_ticket *t,
			 const char *owner, dlk_time deadline,
			 struct dlk_error *err);

/* The wish that was got with a renewal by `seen`: if the ticket is meant, tell
 * the core, and let `drop` be what takes it away.  1: it is. */
int dlki_memc_wish_heard(const struct memc_ticket *t,
			 const struct memc_op *seen, struct memc_op *drop);

#endif
