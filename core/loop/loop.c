/* SPDX-License-Identifier: Apache-2.0 */
/* A turn: wait, take the time, read, dispatch, write. */
#include "core/loop/links.h"
#include "core/loop/news.h"
#include "core/loop/ops.h"
#include "core/loop/server.h"
#include "core/loop/traffic.h"

/* Ends lead to submissions, and submissions to ends: so many rounds a turn.
 * The next turn goes on. */
enum { ROUNDS = 16, BATCH = 64, EVENTS = 16 };

static void take_time(struct dlki_engine *e)
{
	dlk_time now = e->world->type->now(e->world);

	if (now > e->now)
		e->now = now;
}

/* ---- Settling ------------------------------------------------------------ */

/* A store without links is always there. */
static int can_submit(const struct dlki_engine *e)
{
	return !TAILQ_EMPTY(&e->queue) && !e->refused &&
	       (e->n_links == 0 || dlki_is_up(e->links[0]));
}

/* Hand over ops of one verb, from the queue's front.  The store has agreed to a
 * lease by now. */
static void submit_batch(struct dlki_engine *e)
{
	struct dlki_op *batch[BATCH];
	struct dlki_op *op = TAILQ_FIRST(&e->queue);
	enum dlki_verb verb = op->verb;
	size_t n = 0;

	for (; op && op->verb == verb && n < BATCH;
	     op = TAILQ_NEXT(op, in_queue)) {
		op->lease_ms = e->agreed.lease_ms;
		batch[n++] = op;
	}
	e->protocol->submit(e->store, verb, batch, n, e->now);
	dlki_links_called(e);
}

/* A link without memory for a request is cut, and the op stays. */
static void submit_queue(struct dlki_engine *e)
{
	while (can_submit(e)) {
		const struct dlki_op *first = TAILQ_FIRST(&e->queue);

		submit_batch(e);
		if (TAILQ_FIRST(&e->queue) == first)
			break;
	}
}

static int is_settled(const struct dlki_engine *e)
{
	return TAILQ_EMPTY(&e->ended) && !dlki_news_are_due(e) &&
	       !can_submit(e);
}

static void settle(struct dlki_engine *e)
{
	for (int i = 0; i < ROUNDS && !is_settled(e); i++) {
		dlki_ops_deliver(e);
		if (dlki_news_are_due(e))
			dlki_news_deliver(e);
		submit_queue(e);
	}
}

static int has_work(const struct dlki_engine *e, unsigned int sets)
{
	return !is_settled(e) || dlki_links_have_work(e, sets);
}

/* ---- Waiting ------------------------------------------------------------- */

/* Have a thread look in time: a waiting thread, or the loop's own.  A thread in
 * the midst of a turn looks before it waits. */
static void rouse(struct dlki_engine *e)
{
	dlk_time at = dlki_heap_next(&e->alarms.heap);
	unsigned int waits = DLKI_SETS;

	if (has_work(e, 0))
		at = e->now;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (!e->in_wait[set])
			continue;
		if (e->until[set] <= at)
			return;
		waits = set;
	}
	if (waits != DLKI_SETS)
		e->world->type->kick(e->world, (enum dlki_set)waits);
	else if (e->nudge)
		e->nudge(e, at);
}

static dlk_time wait_until(const struct dlki_engine *e, unsigned int sets,
			   dlk_time until)
{
	dlk_time next = dlki_heap_next(&e->alarms.heap);

	if (has_work(e, sets))
		return e->now;
	return next < until ? next : until;
}

static int wait_for_events(struct dlki_engine *e, unsigned int sets,
			   dlk_time until, struct dlki_event events[EVENTS])
{
	int n;

	until = wait_until(e, sets, until);
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set)) {
			e->in_wait[set] = 1;
			e->until[set] = until;
		}
	}
	dlki_unlock(e);
	n = e->world->type->wait(e->world, sets, events, EVENTS, until);
	pthread_mutex_lock(&e->mu);
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			e->in_wait[set] = 0;
	}
	return n;
}

/* Is the next wait in a set only for an answer of this link?  Then no alarm is
 * due while await() may take, and no thread must be woken. */
static int awaits_answer(const struct dlki_engine *e, const struct dlki_link *l,
			 dlk_time until)
{
	return l && e->due == 0 &&
	       wait_until(e, DLKI_BIT(DLKI_ANSWERS), until) - e->now >=
		       DLKI_AWAIT_NS;
}

/* ---- The entries --------------------------------------------------------- */

static void begin(struct dlki_engine *e)
{
	take_time(e);
	if (e->lookup.world)
		dlki_server_look(e);
}

/* Behind the wait, and behind the events of the wait. */
static void end_turn(struct dlki_engine *e, unsigned int sets)
{
	dlki_links_read(e, sets);
	dlki_links_cut_silent(e, sets);
	dlki_alarms_ring(&e->alarms, e->now);
	dlki_links_close_cut(e);
	settle(e);
	dlki_links_write(e);
}

void dlki_push(struct dlki_engine *e)
{
	begin(e);
	dlki_alarms_ring(&e->alarms, e->now);
	if (can_submit(e))
		dlki_links_look(e);
	settle(e);
	dlki_links_write(e);
	rouse(e);
}

void dlki_turn(struct dlki_engine *e, unsigned int sets, dlk_time until)
{
	struct dlki_event events[EVENTS];
	int n = wait_for_events(e, sets, until, events);

	begin(e);
	for (int i = 0; i < n; i++)
		dlki_links_event(e, &events[i]);
	end_turn(e, sets);
}

/* In await() the thread does not count as waiting: alarms are left to others,
 * and no kick is sent. */
void dlki_turn_for_answer(struct dlki_engine *e, unsigned int sets,
			  dlk_time until)
{
	struct dlki_link *l = dlki_links_lone(e);
	size_t n;

	if (!awaits_answer(e, l, until)) {
		dlki_turn(e, sets, until);
		return;
	}
	n = dlki_link_await(l, &e->mu, e->in[l->set]);
	begin(e);
	dlki_links_awaited(l, n);
	end_turn(e, DLKI_BIT(DLKI_ANSWERS));
}
