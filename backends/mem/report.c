/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include <stdio.h>

int dlki_mem_inspect(struct dlk_session *base, const struct dlk_claim *claim,
		     void (*each)(const struct dlock_party *p, void *arg),
		     void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = (struct mem_session *)base;
	const struct mem_line *line;
	dlk_time now = dlk_now();
	int rc;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	line = dlki_mem_find(s, claim, err);
	rc = line ? 0 : err->code;
	for (const struct mem_party *p = line ? line->first : NULL; p;
	     p = p->next) {
		char id[9];
		struct dlock_party out = {
			.size = sizeof(out),
			.label = p->ticket.claim.label,
			.id = id,
			.token = p->granted ? p->token : 0,
			.remaining_ms = -1,
			.shared = p->ticket.claim.mode == DLK_SHARED,
			.waiting = !p->granted,
		};

		if (p->granted && p->until <= now)
			continue;
		if (p->granted && p->until != DLK_FOREVER)
			out.remaining_ms = (p->until - now) / MEM_MS;
		snprintf(id, sizeof(id), "%.8s", p->ticket.claim.owner);
		each(&out, arg);
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}

int dlki_mem_list(struct dlk_session *base,
		  void (*each)(const struct dlock_entry *e, void *arg),
		  void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = (struct mem_session *)base;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	dlki_mem_each(s, each, arg);
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}

int dlki_mem_break(struct dlk_session *base, const struct dlk_claim *claim,
		   dlk_time deadline, struct dlk_error *err)
{
	struct mem_session *s = (struct mem_session *)base;
	struct mem_line *line;
	struct mem_party *next;
	int rc;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return err->code;
	pthread_mutex_lock(&dlki_mem_mu);
	line = dlki_mem_find(s, claim, err);
	rc = line ? 0 : err->code;
	for (struct mem_party *p = line ? line->first : NULL; p; p = next) {
		next = p->next;
		if (!p->granted)
			continue;
		dlk_lost(p->ticket.session, p->ticket.id,
			 "an operator broke the lock");
		dlki_mem_leave(p);
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}
