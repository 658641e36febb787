/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/mix.h"

#include <inttypes.h>

#include "lab/base/clock.h"

#define PAGE 3     /* of these */
#define SOON_MS 10 /* as long as a few holds */

const struct chaos_name chaos_names[CHAOS_NAMES] = {
	{ "chaos/one", LAB_MUTEX, 0 },    { "chaos/two", LAB_MUTEX, 0 },
	{ "chaos/book", LAB_WRITE, 0 },   { "chaos/page", LAB_WRITE, 0 },
	{ "chaos/seats", LAB_PERMIT, 3 }, { "chaos/chair", LAB_PERMIT, 1 },
	{ "chaos/seldom", LAB_MUTEX, 0 },
};

struct use { /* under way */
	struct chaos_held h;
	const struct chaos_name *name;
	dlock_lock *lock;
	enum lab_mode mode;
	int own;   /* no other thread has this handle */
	int async; /* by an asynchronous call */
};

/* A thread's own handle of the page is a mutex, which is the same lock. */
static enum lab_mode mode_of(int i, int own)
{
	return own && i == PAGE ? LAB_MUTEX : chaos_names[i].mode;
}

int chaos_make_handle(dlock_client *c, int i, enum lab_mode mode,
		      dlock_lock **out)
{
	const struct chaos_name *n = &chaos_names[i];

	if (mode == LAB_MUTEX)
		return dlock_mutex_new(out, c, n->name);
	if (mode == LAB_PERMIT)
		return dlock_semaphore_new(out, c, n->name, n->limit);
	return dlock_rwlock_new(out, c, n->name);
}

int chaos_make_handles(struct chaos_worker *w, dlock_lock *out[CHAOS_NAMES],
		       int own)
{
	int rc = 0;

	for (int i = 0; i < CHAOS_NAMES && !rc; i++)
		rc = chaos_make_handle(w->client, i, mode_of(i, own), &out[i]);
	return rc;
}

static int64_t draw_timeout(struct use *u)
{
	struct chaos_random *r = &u->h.me->random;
	int64_t ttl = u->h.me->w->job->ttl_ms;
	int64_t kind = chaos_between(r, 0, 9);

	if (kind < 2)
		return 0;
	if (kind < 4 && u->own)
		return -1;
	return chaos_between(r, 1, 2 * ttl);
}

/* Half of the endless waits are to end soon: holds are short, however long the
 * lease, so few waits take a part of the lease. */
static int64_t draw_patience(struct use *u)
{
	struct chaos_random *r = &u->h.me->random;
	int64_t ttl = u->h.me->w->job->ttl_ms;

	return chaos_chance(r, 50) ? chaos_between(r, 0, SOON_MS) :
				     chaos_between(r, ttl / 4, 3 * ttl);
}

/* Another thread cancels it when it is time: see chaos_cancel(). */
static void endless_wait_begins(struct use *u, int64_t timeout_ms)
{
	struct chaos_thread *me = u->h.me;

	if (timeout_ms >= 0)
		return;
	pthread_mutex_lock(&me->lock);
	me->waits = u->lock;
	me->cancel_at = lab_after_ms(draw_patience(u));
	pthread_mutex_unlock(&me->lock);
}

static void endless_wait_ends(struct use *u)
{
	pthread_mutex_lock(&u->h.me->lock);
	u->h.me->waits = NULL;
	pthread_mutex_unlock(&u->h.me->lock);
}

void chaos_cancel(struct chaos_thread *h)
{
	pthread_mutex_lock(&h->lock);
	if (h->waits && (lab_now() > h->cancel_at || atomic_load(&h->w->stop)))
		dlock_cancel(h->waits);
	pthread_mutex_unlock(&h->lock);
}

/* ---- Operations, of which the thread awaits the end ---------------------- */

struct end {
	atomic_int over;
	int rc;
	dlock_hold *hold;
};

static void ended(const struct dlock_result *r, void *arg)
{
	struct end *end = arg;

	end->rc = r->code;
	end->hold = r->hold;
	atomic_store(&end->over, 1);
}

/* Whichever thread waits processes the ends of all. */
static int await_end(struct use *u, struct end *end)
{
	while (!atomic_load(&end->over))
		(void)dlock_wait(u->h.me->w->client, 1);
	return end->rc;
}

static int acquire_async(struct use *u, const dlock_acquire_options *o)
{
	struct end end = { 0 };
	int rc = dlock_acquire_opts_start(u->lock, o, ended, &end, NULL);

	if (rc != DLOCK_OK)
		return rc;
	rc = await_end(u, &end);
	u->h.hold = end.hold;
	return rc;
}

static int release_async(struct use *u)
{
	struct end end = { 0 };
	int rc = dlock_release_start(u->h.hold, ended, &end);

	return rc == DLOCK_OK ? await_end(u, &end) : rc;
}

/* ---- A use --------------------------------------------------------------- */

/* Draw options for a fifth of the acquires. */
static dlock_acquire_options draw_options(struct use *u, int64_t timeout)
{
	int64_t kind = chaos_between(&u->h.me->random, 0, 19);
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout;
	o.shared = u->mode == LAB_READ;
	if (kind < CHAOS_TERMS)
		chaos_draw_terms(u->h.me, kind, &o);
	else if (kind == CHAOS_TERMS)
		o.label = "chaos";
	return o;
}

static int acquire_now(struct use *u, int64_t timeout)
{
	dlock_acquire_options o = draw_options(u, timeout);

	return u->async ? acquire_async(u, &o) :
			  dlock_acquire_opts(u->lock, &o, &u->h.hold);
}

static void count_granted(const struct use *u)
{
	static const enum chaos_feature features[LAB_MODES] = {
		[LAB_MUTEX] = CHAOS_MUTEX,
		[LAB_WRITE] = CHAOS_WRITE,
		[LAB_READ] = CHAOS_READ,
		[LAB_PERMIT] = CHAOS_PERMIT,
	};

	chaos_did(u->h.me, features[u->mode]);
	if (u->async)
		chaos_did(u->h.me, CHAOS_START);
}

static int acquire_lock(struct use *u)
{
	struct chaos_worker *w = u->h.me->w;
	int64_t timeout = draw_timeout(u);
	int rc;

	endless_wait_begins(u, timeout);
	u->h.op = lab_holds_acquire(&w->holds, u->name->name, u->mode,
				    u->name->limit, timeout);
	if (u->async)
		lab_history_note(w->history, CHAOS_ASYNC_NOTE, u->h.op);
	rc = acquire_now(u, timeout);
	chaos_answered(&u->h, rc, u->h.hold);
	endless_wait_ends(u);
	if (rc == DLOCK_ECANCELED && timeout < 0) {
		atomic_fetch_add(&w->counters->cancelled, 1);
		chaos_did(u->h.me, CHAOS_CANCEL);
	} else if (!chaos_usual(rc)) {
		chaos_odd(&u->h, "acquire", rc);
	}
	if (rc == DLOCK_OK)
		count_granted(u);
	return rc;
}

static void reenter(struct use *u)
{
	dlock_hold *same = NULL;
	int rc = dlock_acquire(u->lock, 0, &same);

	if (rc == DLOCK_ELOST)
		return;
	if (rc != DLOCK_OK) {
		chaos_odd(&u->h, "acquire again", rc);
		return;
	}
	if (same != u->h.hold || dlock_token(same) != u->h.token)
		chaos_odd(&u->h, "acquire again (another hold)", rc);
	atomic_fetch_add(&u->h.me->w->counters->again, 1);
	chaos_did(u->h.me, CHAOS_AGAIN);
	chaos_write(&u->h);
	rc = dlock_release(same);
	if (rc != DLOCK_OK && rc != DLOCK_ELOST)
		chaos_odd(&u->h, "release of one of two", rc);
}

/* Draw how long to hold the lock, and whether to sleep all the time. */
static int64_t draw_work(struct use *u, int *asleep)
{
	struct chaos_random *r = &u->h.me->random;
	int64_t ttl = u->h.me->w->job->ttl_ms;
	int64_t kind = chaos_between(r, 0, 99);

	*asleep = kind >= 98;
	if (kind < 88)
		return chaos_between(r, 0, 5);
	if (kind < 96)
		return chaos_between(r, 10, ttl / 4);
	return chaos_between(r, ttl / 2, 2 * ttl);
}

static void hold_and_write(struct use *u)
{
	struct chaos_random *r = &u->h.me->random;
	int asleep;
	int64_t end = lab_after_ms(draw_work(u, &asleep));

	if (asleep)
		lab_nap_ms((end - lab_now()) / LAB_MS);
	do {
		chaos_check(&u->h);
		chaos_write(&u->h);
		if (!asleep)
			lab_nap_ms(chaos_between(r, 0, 6));
	} while (!u->h.lost && lab_now() < end);
	chaos_check(&u->h);
}

/* A holder without dlock_check() writes on after the loss.  The resource must
 * refuse the writes once the next holder has written. */
static void write_on(struct use *u)
{
	int64_t ttl = u->h.me->w->job->ttl_ms;
	int64_t end = lab_after_ms(chaos_between(&u->h.me->random, 0, ttl));

	while (lab_now() < end && !atomic_load(&u->h.me->w->stop)) {
		chaos_write(&u->h);
		lab_nap_ms(chaos_between(&u->h.me->random, 5, 40));
	}
}

static void release_lock(struct use *u)
{
	struct chaos_worker *w = u->h.me->w;
	int rc;

	lab_holds_release(&w->holds, u->h.op);
	rc = chaos_chance(&u->h.me->random, 30) ? release_async(u) :
						  dlock_release(u->h.hold);
	lab_holds_released(&w->holds, u->h.op, rc);
	if (rc != DLOCK_OK && rc != DLOCK_ELOST && rc != DLOCK_EUNREACHABLE)
		chaos_odd(&u->h, "release", rc);
}

#define SELDOM 1 /* percent of uses */

/* Uses of the last name are so rare that stores forget the lock in between. */
static int draw_name(struct chaos_thread *me)
{
	struct chaos_random *r = &me->random;

	if (chaos_chance(r, SELDOM))
		return CHAOS_NAMES - 1;
	return (int)chaos_between(r, 0, CHAOS_NAMES - 2);
}

/* Make an unbound handle for a single use. */
static int unbound_handle(struct use *u)
{
	int i = (int)(u->name - chaos_names);
	int rc = chaos_make_handle(u->h.me->w->client, i, u->mode, &u->lock);

	if (rc != DLOCK_OK) {
		chaos_odd(&u->h, "a handle", rc);
		return rc;
	}
	return dlock_lock_unbind(u->lock);
}

static void use_lock(struct use *u)
{
	struct chaos_thread *me = u->h.me;

	if (acquire_lock(u) != DLOCK_OK)
		return;
	chaos_write(&u->h);
	if (u->mode == LAB_MUTEX && !u->async && chaos_chance(&me->random, 20))
		reenter(u);
	hold_and_write(u);
	if (u->h.lost && chaos_chance(&me->random, 70))
		write_on(u);
	release_lock(u);
	/* A delayed write, as from a queue. */
	if (chaos_chance(&me->random, 10)) {
		lab_nap_ms(chaos_between(&me->random, 0, 60));
		chaos_write(&u->h);
	}
}

void chaos_use_lock(struct chaos_thread *me)
{
	int i = draw_name(me);
	struct use u = { .h = chaos_held(me, i, 0), .name = &chaos_names[i] };

	u.own = chaos_chance(&me->random, 60);
	u.lock = u.own ? me->own[i] : me->w->shared[i];
	u.async = chaos_chance(&me->random, 30);
	u.mode = mode_of(i, u.own);
	if (u.mode == LAB_WRITE && chaos_chance(&me->random, 60))
		u.mode = LAB_READ;
	if (u.mode != LAB_READ && u.name->limit < 2)
		u.h.guarded = me->w->guarded[i];
	atomic_fetch_add(&me->w->counters->uses, 1);
	if (u.async && unbound_handle(&u) != DLOCK_OK)
		return;
	use_lock(&u);
	if (u.async)
		dlock_lock_free(u.lock);
}
