/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orphans: tickets of the store, each in the place of a core's ticket after a
 * release without an answer (rehearsal.c).  The core may free the ticket then,
 * but the claim stands until a release gets through, the lease ends, or,
 * without a lease, the session ends.
 *
 * All functions need dlki_mem_mu.
 */
#ifndef DLOCK_BACKENDS_MEM_ORPHAN_H
#define DLOCK_BACKENDS_MEM_ORPHAN_H

#include "backends/mem/mem.h"

/* Put an orphan in the place of the ticket.  Without memory the release gets
 * through after all. */
void dlki_mem_orphan_leave(struct mem_ticket *t);

/* Return the orphan in the place of the ticket, or NULL. */
struct mem_ticket *dlki_mem_orphan_of(const struct mem_ticket *t);

/* The session ends. */
void dlki_mem_orphans_close(struct mem_session *s);

/* Forget the orphans, in a forked child. */
void dlki_mem_orphans_forget(void);

#endif
