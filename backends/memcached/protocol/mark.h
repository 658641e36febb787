/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of a lock, which says that it has or had readers, and of a
 * semaphore, which says how many permits it has.
 *
 * A mark keeps nobody out.  Of a lock it saves a writer the survey of the
 * slots: a reader makes sure of the mark and only then gets the gate; a writer
 * takes the gate and only then gets the mark.  One of the two sees the other.
 * Of a semaphore it tells those that believe in fewer permits that a slot
 * beyond theirs may be held.  That number counts only while a slot is held.
 *
 * A mark must live for as long as the lease of any client that comes in.  So it
 * says until when it lives, by the server's own count of seconds.  A client to
 * which that is too soon stores it again, by its cas and with a later end.  So
 * the end never moves back, whatever the leases of the others are.
 *
 * A reader holds by the very mark that it came in by, which is told from one
 * that was made later by the owner and the add that made it.  Once that mark
 * has gone, a writer may have come in, and the reader's claim does not stand.
 *
 * Pure.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_MARK_H
#define DLOCK_MEMCACHED_PROTOCOL_MARK_H

#include "backends/memcached/protocol/claim.h"

/* The operation that makes sure of the mark that was just got by `seen`: makes
 * it, lets it live longer, or gets it again. */
struct memc_op dlki_memc_mark_op(const struct memc_run *run,
				 struct memc_claim *claim,
				 const struct dlk_request *request,
				 const struct memc_op *seen, dlk_time now);

/* Does the mark outlive a lease of this client that begins by `now`?  `seen` is
 * of a batch that stored an item, or of a later batch. */
int dlki_memc_mark_lasts(const struct memc_run *run, const struct memc_op *seen,
			 dlk_time now);

/* Does the mark have another number of permits than the request? */
int dlki_memc_mark_differs(const struct dlk_request *request,
			   const struct memc_op *seen);

/* From now on the reader holds by this mark. */
void dlki_memc_mark_keep(struct memc_claim *claim, const struct memc_op *seen);

/* Is this the mark by which the reader holds? */
int dlki_memc_mark_is_kept(const struct memc_claim *claim,
			   const struct memc_op *seen);

#endif
