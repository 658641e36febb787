/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <assert.h>
#include <stdlib.h>

#include "core/base/clock.h"

/* A connection that was used within this time is not checked. */
#define RECENT_NS (1000 * DLK_MS)

/* A thread that waits for a connection, or for permission to open one.  It is
 * on that thread's stack, in a queue with the oldest first. */
struct waiter {
	struct waiter *next;
	pthread_cond_t cond;
	int told;   /* that there was something to take */
	int served; /* out of the queue, with `connection` or permission */
	struct dlk_pooled *connection;
};

struct dlk_pool {
	/* Constant. */
	const struct dlk_pool_type *type;
	void *arg;
	size_t max, keep;

	/* mu protects what follows and the waiters.  It is a leaf. */
	pthread_mutex_t mu;
	struct dlk_pooled *idle; /* from the one that was used last */
	size_t n_idle, n_open;   /* n_open counts idle ones, too; it is above
				   * max while an urgent request has one more */
	struct waiter *first, **end;
	size_t n_waiting;
	uint64_t generation;
	dlk_time doubt;   /* when one was last given back spoilt */
	int64_t usual_ns; /* between take and give; smoothed */
};

struct dlk_pool *dlk_pool_new(const struct dlk_pool_type *type, void *arg,
			      size_t max, size_t keep)
{
	struct dlk_pool *p = calloc(1, sizeof(*p));

	assert(max >= 1);
	if (!p)
		return NULL;
	p->type = type;
	p->arg = arg;
	p->max = max;
	p->keep = keep;
	p->end = &p->first;
	p->doubt = INT64_MIN;
	pthread_mutex_init(&p->mu, NULL);
	return p;
}

static size_t close_all(const struct dlk_pool *p, struct dlk_pooled *list)
{
	size_t n = 0;

	while (list) {
		struct dlk_pooled *next = list->next;

		p->type->close(list);
		list = next;
		n++;
	}
	return n;
}

void dlk_pool_free(struct dlk_pool *p)
{
	if (!p)
		return;
	assert(p->n_open == p->n_idle);
	close_all(p, p->idle);
	pthread_mutex_destroy(&p->mu);
	free(p);
}

/* ---- With mu held -------------------------------------------------------- */

static int has_any(const struct dlk_pool *p)
{
	return p->idle || p->n_open < p->max;
}

/* Take an idle one, or leave to open one, which is NULL. */
static int pick_one(struct dlk_pool *p, struct dlk_pooled **out)
{
	*out = p->idle;
	if (*out) {
		p->idle = (*out)->next;
		p->n_idle--;
		return 1;
	}
	if (p->n_open >= p->max)
		return 0;
	p->n_open++;
	return 1;
}

static void pick_urgently(struct dlk_pool *p, struct dlk_pooled **out)
{
	if (!pick_one(p, out))
		p->n_open++;
}

static void enqueue(struct dlk_pool *p, struct waiter *w)
{
	*p->end = w;
	p->end = &w->next;
	p->n_waiting++;
}

static void dequeue(struct dlk_pool *p, struct waiter *w)
{
	struct waiter **at = &p->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (p->end == &w->next)
		p->end = at;
	p->n_waiting--;
}

static void tell_first(struct dlk_pool *p)
{
	if (p->first) {
		p->first->told = 1;
		pthread_cond_signal(&p->first->cond);
	}
}

/*
 * `c` has become free; if it is NULL, a connection may be opened.  If the first
 * waiter got it at once, it would be idle until that thread runs.  So the first
 * waiter is only told.  If it was told before, others have been quicker, and it
 * gets this one.
 */
static void offer_one(struct dlk_pool *p, struct dlk_pooled *c)
{
	struct waiter *w = p->first;

	if (!c && p->n_open > p->max) {
		p->n_open--;
		return;
	}
	if (w && w->told) {
		dequeue(p, w);
		w->connection = c;
		w->served = 1;
		pthread_cond_signal(&w->cond);
		return;
	}
	if (c) {
		c->next = p->idle;
		p->idle = c;
		p->n_idle++;
	} else {
		p->n_open--;
	}
	tell_first(p);
}

static int wait_for_one(struct dlk_pool *p, dlk_time deadline,
			struct dlk_pooled **out)
{
	struct waiter w = { 0 };
	dlk_time left = deadline - dlk_now();
	int got;

	deadline -= 2 * p->usual_ns < left / 2 ? 2 * p->usual_ns : left / 2;
	dlk_cond_init(&w.cond);
	enqueue(p, &w);
	while (!w.served && !has_any(p) && dlk_now() < dlk_deadline(deadline))
		dlk_cond_wait(&w.cond, &p->mu,
			      dlk_wait_slice(deadline, p->n_waiting));
	got = w.served;
	*out = w.connection;
	if (!got) {
		dequeue(p, &w);
		got = pick_one(p, out);
	}
	/* There may be more than one to take, but only the first was told. */
	if (has_any(p))
		tell_first(p);
	pthread_cond_destroy(&w.cond);
	return got;
}

/* ---- Without it ---------------------------------------------------------- */

static void give_leave(struct dlk_pool *p, size_t n)
{
	pthread_mutex_lock(&p->mu);
	while (n-- > 0)
		offer_one(p, NULL);
	pthread_mutex_unlock(&p->mu);
}

static struct dlk_pooled *open_one(struct dlk_pool *p, uint64_t generation,
				   dlk_time deadline, struct dlk_error *err)
{
	struct dlk_pooled *c = NULL;

	/* Thousands of calls that come too late must not connect each. */
	if (dlk_now() < deadline)
		c = p->type->open(p->arg, deadline, err);
	else
		dlk_fail(err, DLOCK_EUNREACHABLE,
			 "no time was left to connect");
	if (!c) {
		give_leave(p, 1);
		return NULL;
	}
	c->generation = generation;
	c->spared_until = 0;
	return c;
}

/* With mu held. */
static void note_use(struct dlk_pool *p, const struct dlk_pooled *c,
		     dlk_time now)
{
	p->usual_ns += (now - c->taken - p->usual_ns) / 8;
}

static int is_usable(const struct dlk_pool *p, struct dlk_pooled *c,
		     dlk_time doubt)
{
	if (!p->type->usable)
		return 1;
	if (c->idle_since > doubt && dlk_now() - c->idle_since < RECENT_NS)
		return 1;
	return p->type->usable(c);
}

static struct dlk_pooled *fail_crowded(const struct dlk_pool *p, int *fresh,
				       struct dlk_error *err)
{
	dlk_fail(err, DLOCK_EEXHAUSTED,
		 "all %zu connections were in use until the deadline; "
		 "let the URI allow more of them",
		 p->max);
	if (fresh)
		*fresh = DLK_POOL_CROWDED;
	return NULL;
}

static struct dlk_pooled *take_one(struct dlk_pool *p, int urgent,
				   dlk_time deadline, int *fresh,
				   struct dlk_error *err)
{
	struct dlk_pooled *c;
	uint64_t generation;
	dlk_time begun = dlk_now();
	dlk_time doubt;
	int got = 1, waited = 0;

	if (fresh)
		*fresh = 0;
	/* Nothing can be sent in time, and no connection is to be spoilt by the
	 * attempt. */
	if (begun >= deadline) {
		dlk_fail(err, DLOCK_EUNREACHABLE,
			 "no time was left to ask the store");
		return NULL;
	}
	pthread_mutex_lock(&p->mu);
	if (urgent) {
		pick_urgently(p, &c);
	} else if (!pick_one(p, &c)) {
		got = wait_for_one(p, deadline, &c);
		waited = 1;
	}
	generation = p->generation;
	doubt = p->doubt;
	pthread_mutex_unlock(&p->mu);

	if (!got)
		return fail_crowded(p, fresh, err);
	if (c && !is_usable(p, c, doubt)) {
		p->type->close(c);
		c = NULL;
	}
	if (fresh)
		*fresh = !c;
	if (!c) {
		c = open_one(p, generation, deadline, err);
		waited = 1;
	}
	if (c)
		c->taken = waited ? dlk_now() : begun;
	return c;
}

struct dlk_pooled *dlk_pool_take(struct dlk_pool *p, dlk_time deadline,
				 int *fresh, struct dlk_error *err)
{
	return take_one(p, 0, deadline, fresh, err);
}

struct dlk_pooled *dlk_pool_take_urgent(struct dlk_pool *p, dlk_time deadline,
					int *fresh, struct dlk_error *err)
{
	return take_one(p, 1, deadline, fresh, err);
}

static void give_back(struct dlk_pool *p, struct dlk_pooled *c, int good)
{
	dlk_time now = dlk_now();

	pthread_mutex_lock(&p->mu);
	if (good)
		note_use(p, c, now);
	else
		p->doubt = now;
	/* `keep` limits idle connections, but waiters need theirs as well. */
	if (good && c->generation == p->generation && p->n_open <= p->max &&
	    p->n_idle < p->keep + p->n_waiting) {
		c->idle_since = now;
		offer_one(p, c);
		pthread_mutex_unlock(&p->mu);
		return;
	}
	pthread_mutex_unlock(&p->mu);
	p->type->close(c);
	give_leave(p, 1);
}

void dlk_pool_give(struct dlk_pool *p, struct dlk_pooled *c, int good)
{
	c->round_trip = 0;
	give_back(p, c, good);
}

int dlk_pool_spare(struct dlk_pool *p, struct dlk_pooled *c, const char *peer,
		   dlk_time deadline, struct dlk_error *err)
{
	dlk_time now;

	if (c->round_trip == 0)
		return 0;
	now = dlk_now();
	if (c->round_trip <= deadline - now)
		return 0;
	if (c->spared_until == 0)
		c->spared_until = now + c->round_trip;
	if (now >= c->spared_until)
		return 0;
	dlk_fail(err, DLOCK_EUNREACHABLE,
		 "%s: connected, but no time was left to ask anything", peer);
	give_back(p, c, 1);
	return 1;
}

/* With mu held. */
static struct dlk_pooled *take_idle(struct dlk_pool *p)
{
	struct dlk_pooled *idle = p->idle;

	p->idle = NULL;
	p->n_idle = 0;
	return idle;
}

void dlk_pool_dead(struct dlk_pool *p, struct dlk_pooled *c)
{
	pthread_mutex_lock(&p->mu);
	c->next = take_idle(p);
	pthread_mutex_unlock(&p->mu);
	give_leave(p, close_all(p, c));
}

void dlk_pool_renew(struct dlk_pool *p)
{
	struct dlk_pooled *idle;

	pthread_mutex_lock(&p->mu);
	p->generation++;
	idle = take_idle(p);
	pthread_mutex_unlock(&p->mu);
	give_leave(p, close_all(p, idle));
}
