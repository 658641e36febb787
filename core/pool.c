/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pool.h"

#include <assert.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/cond.h"

/* One that was used just now needs no look. */
#define RECENT_NS (1000 * DLKI_MS)

/* Who waits for a connection or for leave to open one; on its thread's stack,
 * in line from the first that came. */
struct waiter {
	struct waiter *next;
	pthread_cond_t cond;
	int told;   /* that there was something to take */
	int served; /* out of line, with `connection` or leave */
	struct dlki_pooled *connection;
};

struct dlki_pool {
	/* Constant. */
	const struct dlki_pool_type *type;
	void *arg;
	size_t max, keep;

	/* mu protects what follows and the waiters.  It is a leaf. */
	pthread_mutex_t mu;
	struct dlki_pooled *idle; /* from the one that was used last */
	size_t n_idle, n_open;    /* n_open <= max; counts idle ones, too */
	struct waiter *first, **end;
	size_t n_waiting;
	uint64_t generation;
	dlk_time doubt; /* when one was last given back spoilt */
};

struct dlki_pool *dlki_pool_new(const struct dlki_pool_type *type, void *arg,
				size_t max, size_t keep)
{
	struct dlki_pool *p = calloc(1, sizeof(*p));

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

static size_t close_all(const struct dlki_pool *p, struct dlki_pooled *list)
{
	size_t n = 0;

	while (list) {
		struct dlki_pooled *next = list->next;

		p->type->close(list);
		list = next;
		n++;
	}
	return n;
}

void dlki_pool_free(struct dlki_pool *p)
{
	if (!p)
		return;
	assert(p->n_open == p->n_idle);
	close_all(p, p->idle);
	pthread_mutex_destroy(&p->mu);
	free(p);
}

/* ---- With mu held -------------------------------------------------------- */

static int has_any(const struct dlki_pool *p)
{
	return p->idle || p->n_open < p->max;
}

/* Take an idle one, or leave to open one, which is NULL. */
static int pick(struct dlki_pool *p, struct dlki_pooled **out)
{
	*out = p->idle;
	if (*out) {
		p->idle = (*out)->next;
		p->n_idle--;
		return 1;
	}
	if (p->n_open == p->max)
		return 0;
	p->n_open++;
	return 1;
}

static void join_line(struct dlki_pool *p, struct waiter *w)
{
	*p->end = w;
	p->end = &w->next;
	p->n_waiting++;
}

static void leave_line(struct dlki_pool *p, struct waiter *w)
{
	struct waiter **at = &p->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (p->end == &w->next)
		p->end = at;
	p->n_waiting--;
}

static void tell_first(struct dlki_pool *p)
{
	if (p->first) {
		p->first->told = 1;
		pthread_cond_signal(&p->first->cond);
	}
}

/*
 * Somebody may use `c`, or open one if it is NULL.  To hand it to the first in
 * line would have it lie idle until that thread runs, so that one is only told;
 * but if it was told before, others have been quicker.
 */
static void offer(struct dlki_pool *p, struct dlki_pooled *c)
{
	struct waiter *w = p->first;

	if (w && w->told) {
		leave_line(p, w);
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

static int wait_in_line(struct dlki_pool *p, dlk_time deadline,
			struct dlki_pooled **out)
{
	struct waiter w = { 0 };
	int got;

	dlki_cond_init(&w.cond);
	join_line(p, &w);
	while (!w.served && !has_any(p) && dlk_now() < deadline)
		dlki_wait(&w.cond, &p->mu, deadline);
	got = w.served;
	*out = w.connection;
	if (!got) {
		leave_line(p, &w);
		got = pick(p, out);
	}
	/* There may be more than one to take, but only the first was told. */
	if (has_any(p))
		tell_first(p);
	pthread_cond_destroy(&w.cond);
	return got;
}

/* ---- Without it ---------------------------------------------------------- */

static void give_leave(struct dlki_pool *p, size_t n)
{
	pthread_mutex_lock(&p->mu);
	while (n-- > 0)
		offer(p, NULL);
	pthread_mutex_unlock(&p->mu);
}

static struct dlki_pooled *open_one(struct dlki_pool *p, uint64_t generation,
				    dlk_time deadline, struct dlk_error *err)
{
	struct dlki_pooled *c = NULL;

	/* Thousands of calls that come too late must not connect each. */
	if (dlk_now() < deadline)
		c = p->type->open(p->arg, deadline, err);
	else
		dlk_fail(err, DLOCK_EUNREACHABLE,
			 "no time was left to connect");
	if (c)
		c->generation = generation;
	else
		give_leave(p, 1);
	return c;
}

static int is_usable(const struct dlki_pool *p, struct dlki_pooled *c,
		     dlk_time doubt)
{
	if (!p->type->usable)
		return 1;
	if (c->idle_since > doubt && dlk_now() - c->idle_since < RECENT_NS)
		return 1;
	return p->type->usable(c);
}

struct dlki_pooled *dlki_pool_take(struct dlki_pool *p, dlk_time deadline,
				   int *fresh, struct dlk_error *err)
{
	struct dlki_pooled *c;
	uint64_t generation;
	dlk_time doubt;
	int got;

	pthread_mutex_lock(&p->mu);
	got = pick(p, &c) || wait_in_line(p, deadline, &c);
	generation = p->generation;
	doubt = p->doubt;
	pthread_mutex_unlock(&p->mu);

	if (!got) {
		dlk_fail(err, DLOCK_EUNREACHABLE,
			 "all %zu connections were in use until the deadline",
			 p->max);
		return NULL;
	}
	if (c && !is_usable(p, c, doubt)) {
		p->type->close(c);
		c = NULL;
	}
	if (fresh)
		*fresh = !c;
	return c ? c : open_one(p, generation, deadline, err);
}

void dlki_pool_give(struct dlki_pool *p, struct dlki_pooled *c, int good)
{
	dlk_time now = dlk_now();

	pthread_mutex_lock(&p->mu);
	if (!good)
		p->doubt = now;
	/* Those who wait need theirs whatever is kept. */
	if (good && c->generation == p->generation &&
	    p->n_idle < p->keep + p->n_waiting) {
		c->idle_since = now;
		offer(p, c);
		pthread_mutex_unlock(&p->mu);
		return;
	}
	pthread_mutex_unlock(&p->mu);
	p->type->close(c);
	give_leave(p, 1);
}

void dlki_pool_renew(struct dlki_pool *p)
{
	struct dlki_pooled *idle;

	pthread_mutex_lock(&p->mu);
	p->generation++;
	idle = p->idle;
	p->idle = NULL;
	p->n_idle = 0;
	pthread_mutex_unlock(&p->mu);
	give_leave(p, close_all(p, idle));
}
