/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mix: uses of all features of dlock, on the same locks as the plain uses.
 * Each function is a use by the thread `me`, from the acquire to the release.
 */
#ifndef DLOCK_CHAOS_MIX_H
#define DLOCK_CHAOS_MIX_H

#include "chaos/held.h"

enum { CHAOS_ONE, CHAOS_TWO, CHAOS_BOOK, CHAOS_PAGE, CHAOS_SEATS };

/* Draw a use. */
void chaos_use_mix(struct chaos_thread *me);

void chaos_use_permits(struct chaos_thread *me);     /* several at once */
void chaos_use_upgradeable(struct chaos_thread *me);
void chaos_use_downgrade(struct chaos_thread *me);
void chaos_use_multi(struct chaos_thread *me);
void chaos_use_terms(struct chaos_thread *me);       /* a lease, an end */
void chaos_use_revocable(struct chaos_thread *me);   /* gives way if wanted */
void chaos_use_revoke(struct chaos_thread *me);
void chaos_use_close(struct chaos_thread *me);       /* a second client */

/* Ask to be told, and work until others want the lock, or no longer. */
void chaos_yield(struct chaos_thread *me, struct chaos_held *h);

/* Set the terms of this kind: a lease, a single lease, or an end that may come
 * in the middle of the work, also without leases.  Returns the feature. */
#define CHAOS_TERMS 3
enum chaos_feature chaos_draw_terms(struct chaos_thread *me, int64_t kind,
				    dlock_acquire_options *o);

/* How long to wait for a lock, and how long to work with it. */
int64_t chaos_draw_wait(struct chaos_thread *me);
int64_t chaos_draw_work(struct chaos_thread *me);

/* Count kept and passed holds.  For the worker's main thread. */
void chaos_count_keeps(struct chaos_worker *w);

#endif
