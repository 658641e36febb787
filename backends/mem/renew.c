/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include "backends/mem/queue.h"
#include "backends/mem/rehearsal.h"

void dlki_mem_renew(struct dlk_session *base,
		    struct dlk_ticket *const tickets[],
		    enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		    struct dlk_error *err)
{
	struct mem_session *s = mem_session(base);
	dlk_time now;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return;
	pthread_mutex_lock(&dlki_mem_mu);
	now = dlk_now();
	for (size_t i = 0; i < n; i++) {
		struct mem_ticket *t = mem_ticket(tickets[i]);

		if (t->queue && (t->lose_at <= now || t->until <= now))
			dlki_mem_dequeue(t);
		if (!t->queue) {
			verdict[i] = DLK_GONE;
			continue;
		}
		t->until = mem_lease_end(s);
		verdict[i] = s->leased ? DLK_RENEWED : DLK_STANDS;
	}
	pthread_mutex_unlock(&dlki_mem_mu);
}
