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

enum dlk_verdict dlki_mem_attempt(struct dlk_ticket *t, dlk_time deadline,
				  struct dlk_error *err);
void dlki_mem_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		    enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		    struct dlk_error *err);
int dlki_mem_release(struct dlk_ticket *t, dlk_time deadline,
		     struct dlk_error *err);
int dlki_mem_downgrade(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err);
int dlki_mem_watch_wanted(struct dlk_ticket *t, dlk_time deadline,
			  struct dlk_error *err);
int dlki_mem_revoke(struct dlk_session *s, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err);
int dlki_mem_inspect(struct dlk_session *s, const struct dlk_request *request,
		     void (*each)(const struct dlock_participant *p, void *arg),
		     void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_mem_list(struct dlk_session *s,
		  void (*each)(const struct dlock_lock_info *e, void *arg),
		  void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_mem_resize(struct dlk_session *s, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err);
int dlki_mem_break(struct dlk_session *s, const struct dlk_request *request,
		   dlk_time deadline, struct dlk_error *err);

#endif
