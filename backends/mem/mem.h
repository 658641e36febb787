/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem: locks within this process, first come, first served.
 *
 * All clients of the same mem://NAME, or of mem:, share the locks.  A hold
 * expires only if the URI sets a ttl.  Some parameters rehearse the faults of
 * other stores: see rehearsal.c.
 *
 * This store calls dlock/backend.h alone: no dlki_ function of the core.
 */
#ifndef DLOCK_BACKENDS_MEM_MEM_H
#define DLOCK_BACKENDS_MEM_MEM_H

#include <dlock/backend.h>
#include <sys/queue.h>

#include "core/base/verb.h"

struct mem_session {
	struct dlk_session base;
	int leased;              /* the URI sets a ttl */
	int64_t lose_ms;
	char space[160];         /* namespace and prefix */
	struct mem_rehearsal {
		int64_t delay_ms;
		uint32_t refuse_percent;
		uint64_t fail_from, fail_to; /* requests, the first is 1 */
		uint64_t asked;              /* so far; under dlki_mem_mu */
		uint64_t dice;               /* under dlki_mem_mu */
	} rehearsal;
};

/* A request: a holder or a waiter once the ticket is in a queue.  Under
 * dlki_mem_mu; zeroed: in no queue. */
struct mem_ticket {
	struct dlk_ticket base;
	struct mem_queue *queue; /* NULL: in no queue */
	TAILQ_ENTRY(mem_ticket) entry;
	int granted;
	int watched;             /* tell the core of other sessions */
	int orphan;              /* the store's own: see orphan.h */
	uint64_t token;
	dlk_time until;          /* end of a holder's, or an orphan's, lease */
	dlk_time lose_at;        /* when the loss is rehearsed */
};

static inline struct mem_session *mem_session(struct dlk_session *s)
{
	return (struct mem_session *)(void *)s;
}

static inline struct mem_ticket *mem_ticket(struct dlk_ticket *t)
{
	return (struct mem_ticket *)(void *)t;
}

/* Return the end of a lease beginning now. */
static inline dlk_time mem_lease_end(const struct mem_session *s)
{
	return s->leased ? dlk_now() + s->base.ttl_ms * DLK_MS : DLK_FOREVER;
}

/* ---- The verbs ----------------------------------------------------------- */

DLKI_VERB(attempt) dlki_mem_attempt;
DLKI_VERB(renew) dlki_mem_renew;
DLKI_VERB(release) dlki_mem_release;
DLKI_VERB(downgrade) dlki_mem_downgrade;
DLKI_VERB(watch_wanted) dlki_mem_watch_wanted;
DLKI_VERB(revoke) dlki_mem_revoke;
DLKI_VERB(inspect) dlki_mem_inspect;
DLKI_VERB(list) dlki_mem_list;
DLKI_VERB(resize) dlki_mem_resize;
DLKI_VERB(break_) dlki_mem_break;

#endif
