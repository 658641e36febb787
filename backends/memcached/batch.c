/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/batch.h"

/* A thread waits for a single server at a time, for so long at first ... */
#define SLICE_MIN (DLK_MS)
/* ... and for all of them for so long. */
#define PART (32 * DLK_MS)

static struct memc_ticket *ticket(const struct memc_batch *b, size_t i)
{
	return (struct memc_ticket *)b->tickets[i];
}

static void leave(const struct memc_batch *b, struct memc_server *s)
{
	s->left = 1;
	if (b->no_wait)
		dlki_opcall_put_off(&s->batch, &b->session->remote.base, 0);
	else
		dlki_opcall_leave(&s->batch);
}

static void resume(struct memc_server *s)
{
	if (s->left)
		dlki_opcall_resume(&s->batch);
	s->left = 0;
}

/* Begin the server's call, or go on with it. */
static void begin_call(const struct memc_batch *b, struct memc_server *s)
{
	if (!s->in_batch) {
		dlki_opcall_begin(&s->batch, &s->engine, b->deadline);
		s->in_batch = 1;
		return;
	}
	resume(s);
	if (s->batch.deadline < b->deadline)
		s->batch.deadline = b->deadline;
}

/* Add the ops of a server's tickets that are not in the batch yet.  The mutex
 * stays locked for a single server, where this thread sends the ops when it
 * waits, and where no thread waits. */
static void begin(struct memc_batch *b, struct memc_server *s)
{
	int added = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct memc_ticket *t = ticket(b, i);

		if (t->server != s || t->in_batch)
			continue;
		if (!added)
			begin_call(b, s);
		added = t->in_batch = 1;
		b->add(b, &s->batch, t);
	}
	if (!added)
		return;
	dlki_opcall_hurry(&s->batch);
	if (b->session->n > 1 && !b->no_wait)
		leave(b, s);
}

static void begin_all(struct memc_batch *b)
{
	for (size_t i = 0; i < b->session->n; i++)
		begin(b, &b->session->servers[i]);
}

static int await(const struct memc_batch *b, struct memc_server *s,
		 dlk_time until)
{
	if (b->no_wait)
		return LIST_EMPTY(&s->batch.ops);
	if (b->deadline == 0)
		s->batch.deadline = b->deadline;
	return dlki_opcall_await_until(&s->batch, until);
}

/* Renewals added meanwhile may be under way all the time. */
static void take_ended(struct memc_batch *b, struct memc_server *s)
{
	for (size_t i = 0; i < b->n; i++) {
		struct memc_ticket *t = ticket(b, i);

		if (t->server != s || !t->in_batch || t->ask.call)
			continue;
		t->in_batch = 0;
		if (b->take)
			b->take(b, &s->batch, i);
	}
}

/* Wait until then, at most, and take the results.  0: the server has not
 * answered all. */
static int end(struct memc_batch *b, struct memc_server *s, dlk_time until)
{
	int is_over;

	resume(s);
	is_over = await(b, s, until);
	take_ended(b, s);
	if (!is_over) {
		leave(b, s);
		return 0;
	}
	dlki_opcall_end(&s->batch);
	s->in_batch = 0;
	return 1;
}

void dlki_memc_batch(struct memc_batch *b)
{
	begin_all(b);
	for (size_t i = 0; i < b->session->n; i++) {
		if (b->session->servers[i].in_batch)
			(void)end(b, &b->session->servers[i], DLK_FOREVER);
	}
}

static size_t count(const struct memc_session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->servers[i].in_batch != 0;
	return n;
}

/* Return the next server in turn: no server is waited for twice before all
 * others have been looked at. */
static struct memc_server *next(struct memc_session *s)
{
	s->looked_at = (s->looked_at + 1) % s->n;
	return &s->servers[s->looked_at];
}

static void go_on_without_a_wait(struct memc_batch *b)
{
	for (size_t i = 0; i < b->session->n; i++) {
		struct memc_server *s = &b->session->servers[i];

		begin(b, s);
		if (s->in_batch)
			(void)end(b, s, 0);
	}
}

static dlk_time part_end(const struct memc_batch *b)
{
	dlk_time at = dlk_now() + PART;

	return b->deadline < at ? b->deadline : at;
}

void dlki_memc_batch_part(struct memc_batch *b)
{
	struct memc_session *session = b->session;
	dlk_time slice = SLICE_MIN, end_at = part_end(b);
	size_t left;

	if (b->no_wait) {
		go_on_without_a_wait(b);
		return;
	}
	if (session->n == 1 && !session->servers[0].left) {
		dlki_memc_batch(b);
		return;
	}
	begin_all(b);
	left = count(session);
	for (size_t looks = 1; left > 0; looks++) {
		struct memc_server *s = next(session);
		dlk_time until = left == 1 ? end_at : dlk_now() + slice;

		if (s->in_batch && end(b, s, until < end_at ? until : end_at))
			return;
		if (dlk_now() >= dlk_deadline(end_at))
			return;
		if (looks % session->n == 0)
			slice *= 2;
	}
}
