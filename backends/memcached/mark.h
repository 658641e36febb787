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
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_MARK_H
#define DLOCK_BACKENDS_MEMCACHED_MARK_H

#include "batch.h"

/* The operation that makes sure of the mark that was just got by `seen`: makes
 * it, lets it live longer, or gets it again. */
struct memc_op dlki_memc_mark_op(const struct memc_conn *c,
				 struct memc_ticket *t,
				 const struct memc_op *seen);

/* Does it live for longer than a lease of ours that begins by now?  `seen` is
 * of a batch that stored something, or of a later one. */
int dlki_memc_mark_lasts(const struct memc_conn *c, const struct memc_op *seen);

/* Does it say another number of permits than the request? */
int dlki_memc_mark_differs(const struct dlk_request *request,
			   const struct memc_op *seen);

/* From now on the reader holds by this mark. */
void dlki_memc_mark_keep(struct memc_ticket *t, const struct memc_op *seen);

/* A renewal of a slot, and the mark that was got in the same batch. */
struct memc_marked {
	struct memc_ticket *t;
	enum dlk_renewal *verdict;
	struct memc_op seen;
};

/* Let the marks live for longer where they must. */
int dlki_memc_marks_renew(struct memc_conn *c, struct memc_marked v[], size_t n,
			  dlk_time deadline, struct dlk_error *err);

/* Take back the renewals of readers whose mark has gone. */
void dlki_memc_marks_judge(const struct memc_conn *c,
			   const struct memc_marked v[], size_t n);

#endif
