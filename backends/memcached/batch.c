/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/batch.h"

static struct memc_ticket *ticket(const struct memc_batch *b, size_t i)
{
	return (struct memc_ticket *)b->tickets[i];
}

/* Add the ops of a server's tickets.  For a single server this thread sends
 * them when it waits. */
static void begin(struct memc_batch *b, struct memc_server *s)
{
	s->in_batch = 0;
	for (size_t i = 0; i < b->n; i++) {
		if (ticket(b, i)->server != s)
			continue;
		if (!s->in_batch)
			dlki_opcall_begin(&s->batch, &s->engine, b->deadline);
		s->in_batch = 1;
		b->add(b, &s->batch, ticket(b, i));
	}
	if (s->in_batch && b->session->n > 1)
		dlki_opcall_leave(&s->batch);
}

static void end(struct memc_batch *b, struct memc_server *s)
{
	if (!s->in_batch)
		return;
	if (b->session->n > 1)
		dlki_opcall_resume(&s->batch);
	dlki_opcall_await(&s->batch);
	for (size_t i = 0; i < b->n && b->take; i++) {
		if (ticket(b, i)->server == s)
			b->take(b, &s->batch, i);
	}
	dlki_opcall_end(&s->batch);
}

void dlki_memc_batch(struct memc_batch *b)
{
	for (size_t i = 0; i < b->session->n; i++)
		begin(b, &b->session->servers[i]);
	for (size_t i = 0; i < b->session->n; i++)
		end(b, &b->session->servers[i]);
}
