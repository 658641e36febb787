/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of a lock says that the lock has or had readers; the mark of a
 * semaphore says how many permits there are: see limit.h.
 *
 * A mark keeps no client out.  For a lock it saves a writer the survey of the
 * slots: a reader makes sure of the mark and only then gets the gate; a writer
 * takes the gate and only then gets the mark.  One of the two sees the other.
 * For a semaphore it tells clients that believe in fewer permits of a slot
 * beyond theirs that may be held.  The limit counts only while a slot is held.
 * Each change of the limit adds 1 to the add of the mark, so that a client sees
 * a change and the change back.
 *
 * While the limit changes, a client may take a slot by the limit from before.
 * So a mark with another limit still has as many slots as the mark before, or
 * more.  The slots beyond the permits are left out once a client has read the
 * mark, and then found these slots empty: no client enters there by this mark.
 * So each held slot is a slot of the mark at any time, and a break or an
 * inspection that has read the mark knows all slots with a holder.
 *
 * A mark must live for as long as the lease of any client that comes in.  So
 * the mark says until when it lives, by the server's own count of seconds.  A
 * client that needs longer stores the mark again, by the cas and with a later
 * end.  So the end never moves back, whatever the leases of other clients are.
 *
 * A reader holds by the very mark it came in by; the owner and the add that
 * made the mark tell it from later marks.  Once the mark has gone, a writer may
 * have come in, and the reader's claim does not stand.
 *
 * Pure.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_MARK_H
#define DLOCK_MEMCACHED_PROTOCOL_MARK_H

#include "backends/memcached/protocol/claim.h"

/* Return the operation that makes sure of the mark just got by `seen`: makes
 * it, lets it live longer, gives it the set limit of the claim, or gets it
 * again. */
struct memc_op dlki_memc_mark_op(const struct memc_run *run,
				 struct memc_claim *claim,
				 const struct dlk_request *request,
				 const struct memc_op *seen, dlk_time now);

/* Does the mark outlive a lease of this client that begins by `now`?  `seen` is
 * of a batch that stored an item, or of a later batch. */
int dlki_memc_mark_lasts(const struct memc_run *run, const struct memc_op *seen,
			 dlk_time now);

/* Return the limit of a semaphore's mark; 0: there is no mark. */
uint32_t dlki_memc_mark_limit(const struct memc_op *seen);

/* Return how many slots may be taken by the mark; 0: there is no mark. */
int dlki_memc_mark_slots(const struct memc_op *seen);

/* Return the operation to give the mark another limit; mark_narrow(): and no
 * more slots than this limit says. */
struct memc_op dlki_memc_mark_change(const struct dlk_request *request,
				     const struct memc_op *seen,
				     uint32_t limit);
struct memc_op dlki_memc_mark_narrow(const struct dlk_request *request,
				     const struct memc_op *seen,
				     uint32_t limit);

/* Has the limit stayed as it was at `before`, when `limit` counted?  Without a
 * mark then, does the mark have this limit? */
int dlki_memc_mark_stays(const struct memc_op *before, uint32_t limit,
			 const struct memc_op *seen);

/* Take the set limit for the claim's. */
void dlki_memc_mark_learn(struct memc_claim *claim, const struct memc_op *seen);

/* Let the reader hold by this mark from now on. */
void dlki_memc_mark_keep(struct memc_claim *claim, const struct memc_op *seen);

/* Is this the mark by which the reader holds? */
int dlki_memc_mark_is_kept(const struct memc_claim *claim,
			   const struct memc_op *seen);

#endif
