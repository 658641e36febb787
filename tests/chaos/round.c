/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lab/clock.h"

const struct chaos_name chaos_names[CHAOS_NAMES] = {
	{ "chaos/one", LAB_MUTEX, 0 },    { "chaos/two", LAB_MUTEX, 0 },
	{ "chaos/book", LAB_WRITE, 0 },   { "chaos/page", LAB_WRITE, 0 },
	{ "chaos/seats", LAB_PERMIT, 3 }, { "chaos/chair", LAB_PERMIT, 1 },
	{ "chaos/seldom", LAB_MUTEX, 0 },
};

struct use { /* a round under way */
	struct chaos_hand *me;
	const struct chaos_name *name;
	struct lab_resource *guarded; /* NULL: holders are not alone */
	dlock_lock *lock;
	enum lab_mode mode;
	int own; /* nobody else has this handle */
	uint64_t op;
	dlock_hold *hold;
	uint64_t token;
	int lost;
};

int chaos_make_handles(struct chaos_bench *b, dlock_lock *out[CHAOS_NAMES])
{
	const struct chaos_name *n;
	int rc = 0;

	for (int i = 0; i < CHAOS_NAMES && !rc; i++) {
		n = &chaos_names[i];
		if (n->mode == LAB_MUTEX)
			rc = dlock_mutex_new(&out[i], b->client, n->name);
		else if (n->mode == LAB_WRITE)
			rc = dlock_rwlock_new(&out[i], b->client, n->name);
		else
			rc = dlock_semaphore_new(&out[i], b->client, n->name,
						 n->limit);
	}
	return rc;
}

/* An answer that nothing that goes wrong here explains. */
static void odd(const struct use *u, const char *call, int rc)
{
	struct chaos_page *page = u->me->b->page;

	if (atomic_fetch_add(&page->odd, 1) == 0)
		snprintf(page->odd_words, sizeof(page->odd_words),
			 "%s of %s: %s: %s", call, u->name->name,
			 dlock_errname(rc), rc < 0 ? dlock_errmsg() : "");
	lab_history_note(u->me->b->history, "odd: %s: %s", call,
			 dlock_errname(rc));
}

static int64_t left(const struct use *u)
{
	int64_t asked = lab_now();

	return lab_until(asked, dlock_remaining_ms(u->hold));
}

static int64_t draw_timeout(struct use *u)
{
	struct chaos_draw *d = &u->me->draw;
	int64_t ttl = u->me->b->job->ttl_ms;
	int64_t kind = chaos_between(d, 0, 9);

	if (kind < 2)
		return 0;
	if (kind < 4 && u->own)
		return -1;
	return chaos_between(d, 1, 2 * ttl);
}

/* Somebody else looks after waits without end: see chaos_cancel(). */
static void wait_from(struct use *u, int64_t timeout_ms)
{
	struct chaos_hand *me = u->me;
	int64_t ttl = me->b->job->ttl_ms;

	if (timeout_ms >= 0)
		return;
	pthread_mutex_lock(&me->lock);
	me->waits = u->lock;
	me->cancel_at =
		lab_after_ms(chaos_between(&me->draw, ttl / 4, 3 * ttl));
	pthread_mutex_unlock(&me->lock);
}

static void wait_over(struct use *u)
{
	pthread_mutex_lock(&u->me->lock);
	u->me->waits = NULL;
	pthread_mutex_unlock(&u->me->lock);
}

void chaos_cancel(struct chaos_hand *h)
{
	pthread_mutex_lock(&h->lock);
	if (h->waits && (lab_now() > h->cancel_at || atomic_load(&h->b->stop)))
		dlock_cancel(h->waits);
	pthread_mutex_unlock(&h->lock);
}

static int acquire(struct use *u)
{
	struct chaos_bench *b = u->me->b;
	int64_t timeout = draw_timeout(u);
	int rc;

	wait_from(u, timeout);
	u->op = lab_history_acquire(b->history, u->name->name, u->mode,
				    u->name->limit, timeout);
	rc = u->mode == LAB_READ ?
		     dlock_acquire_shared(u->lock, timeout, &u->hold) :
		     dlock_acquire(u->lock, timeout, &u->hold);
	if (rc == DLOCK_OK)
		u->token = dlock_token(u->hold);
	lab_history_acquired(b->history, u->op, rc, u->token,
			     rc == DLOCK_OK ? left(u) : 0);
	wait_over(u);
	if (rc == DLOCK_OK) {
		chaos_desk_enter(&b->desk, u->hold, u->op);
		atomic_fetch_add(&b->page->granted, 1);
	} else if (rc == DLOCK_ECANCELED && timeout < 0) {
		atomic_fetch_add(&b->page->cancelled, 1);
	} else if (rc != DLOCK_EBUSY && rc != DLOCK_EUNREACHABLE) {
		odd(u, "acquire", rc);
	}
	return rc;
}

static void offer(struct use *u)
{
	struct chaos_page *p = u->me->b->page;
	struct lab_written w;

	if (!u->guarded || lab_resource_write(u->guarded, u->token, &w) < 0)
		return;
	lab_history_wrote(u->me->b->history, u->op, u->name->name, u->token,
			  &w);
	atomic_fetch_add(w.accepted ? &p->accepted : &p->refused, 1);
}

static void look(struct use *u)
{
	int64_t asked = lab_now();
	int rc = dlock_check(u->hold);

	lab_history_checked(u->me->b->history, u->op, asked, rc);
	if (rc == DLOCK_ELOST)
		u->lost = 1;
	else if (rc != DLOCK_OK)
		odd(u, "check", rc);
}

static void again(struct use *u)
{
	dlock_hold *same = NULL;
	int rc = dlock_acquire(u->lock, 0, &same);

	if (rc == DLOCK_ELOST)
		return;
	if (rc != DLOCK_OK) {
		odd(u, "acquire again", rc);
		return;
	}
	if (same != u->hold || dlock_token(same) != u->token)
		odd(u, "acquire again (another hold)", rc);
	atomic_fetch_add(&u->me->b->page->again, 1);
	offer(u);
	rc = dlock_release(same);
	if (rc != DLOCK_OK && rc != DLOCK_ELOST)
		odd(u, "release of one of two", rc);
}

/* How long, and whether to sleep all the while. */
static int64_t draw_work(struct use *u, int *asleep)
{
	struct chaos_draw *d = &u->me->draw;
	int64_t ttl = u->me->b->job->ttl_ms;
	int64_t kind = chaos_between(d, 0, 99);

	*asleep = kind >= 98;
	if (kind < 88)
		return chaos_between(d, 0, 5);
	if (kind < 96)
		return chaos_between(d, 10, ttl / 4);
	return chaos_between(d, ttl / 2, 2 * ttl);
}

static void work(struct use *u)
{
	struct chaos_draw *d = &u->me->draw;
	int asleep;
	int64_t end = lab_after_ms(draw_work(u, &asleep));

	if (asleep)
		lab_nap_ms((end - lab_now()) / LAB_MS);
	do {
		look(u);
		offer(u);
		if (!asleep)
			lab_nap_ms(chaos_between(d, 0, 6));
	} while (!u->lost && lab_now() < end);
	look(u);
}

/* Who does not look writes on, and is to be refused as soon as the next holder
 * has written. */
static void write_on(struct use *u)
{
	int64_t ttl = u->me->b->job->ttl_ms;
	int64_t end = lab_after_ms(chaos_between(&u->me->draw, 0, ttl));

	while (lab_now() < end && !atomic_load(&u->me->b->stop)) {
		offer(u);
		lab_nap_ms(chaos_between(&u->me->draw, 5, 40));
	}
}

static void release(struct use *u)
{
	struct chaos_bench *b = u->me->b;
	int rc;

	chaos_desk_leave(&b->desk, u->op);
	lab_history_release(b->history, u->op, left(u));
	rc = dlock_release(u->hold);
	lab_history_released(b->history, u->op, rc);
	chaos_desk_left(&b->desk, u->op);
	if (rc != DLOCK_OK && rc != DLOCK_ELOST && rc != DLOCK_EUNREACHABLE)
		odd(u, "release", rc);
}

/* The last one is left alone long enough for stores to forget it. */
static int draw_name(struct chaos_hand *me)
{
	struct chaos_draw *d = &me->draw;

	if (chaos_chance(d, me->b->job->seldom))
		return CHAOS_NAMES - 1;
	return (int)chaos_between(d, 0, CHAOS_NAMES - 2);
}

void chaos_round(struct chaos_hand *me)
{
	int i = draw_name(me);
	struct use u = { .me = me, .name = &chaos_names[i] };

	u.own = chaos_chance(&me->draw, 60);
	u.lock = u.own ? me->own[i] : me->b->shared[i];
	u.mode = u.name->mode;
	if (u.mode == LAB_WRITE && chaos_chance(&me->draw, 60))
		u.mode = LAB_READ;
	if (u.mode != LAB_READ && u.name->limit < 2)
		u.guarded = me->b->guarded[i];
	atomic_fetch_add(&me->b->page->rounds, 1);
	if (acquire(&u) != DLOCK_OK)
		return;
	offer(&u);
	if (u.mode == LAB_MUTEX && chaos_chance(&me->draw, 20))
		again(&u);
	work(&u);
	if (u.lost && chaos_chance(&me->draw, 70))
		write_on(&u);
	release(&u);
	/* A write that comes late, as one from a queue would. */
	if (chaos_chance(&me->draw, 10)) {
		lab_nap_ms(chaos_between(&me->draw, 0, 60));
		offer(&u);
	}
}
