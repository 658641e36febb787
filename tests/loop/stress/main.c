/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop-stress SECONDS - threads share an engine while connections are killed.
 *
 * Workers ask for few locks, park when those are held, hold and release, some
 * by ops without a waiter; another thread cancels their ops; others look names
 * up.  Found out: two holders whose leases both run; a wait without end; an op
 * past the deadline; and under the thread sanitizer any race.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/loop/drive.h"
#include "core/loop/state.h"
#include "core/world/real.h"
#include "support/wait.h"
#include "tests/loop/lines.h"
#include "tests/loop/stress/names.h"
#include "tests/loop/stress/server.h"

/* Much less than a lease: how late a hold may be. */
#define MARGIN_NS (20 * DLK_MS)

struct worker {
	struct dlki_op ask, rel;
	struct dlki_waiter answer, released;
	pthread_mutex_t mu; /* of `heard` */
	pthread_cond_t news;
	int heard;
	uint64_t owner, serial;
	uint64_t random;

	/* Of a pushed grant, by the store's clock. */
	uint64_t pushed_token, pushed_clock;
	int look; /* news may have been missed since the last attempt */
	dlk_time since, end;

	long grants, pushes, looks, busy, unanswered, unsent;
};

static struct dlki_engine *engine;
static struct worker workers[WORKERS];
static _Atomic dlk_time held_until[LOCKS]; /* 0: the lock is free */
static atomic_int stopped, all_joined;

static uint64_t draw(struct worker *w, uint64_t n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random % n;
}

/* ---- Calls of the engine ------------------------------------------------- */

static void ask_done(struct dlki_op *op, dlk_time now)
{
	struct worker *w = (struct worker *)op;

	(void)now;
	dlki_waiter_done(engine, &w->answer);
}

static void rel_done(struct dlki_op *op, dlk_time now)
{
	struct worker *w =
		(struct worker *)((char *)op - offsetof(struct worker, rel));

	(void)now;
	dlki_waiter_done(engine, &w->released);
}

static void hear(struct worker *w)
{
	pthread_mutex_lock(&w->mu);
	w->heard = 1;
	pthread_cond_signal(&w->news);
	pthread_mutex_unlock(&w->mu);
}

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	struct worker *w = &workers[id >> 8 & 0xff];

	(void)arg;
	(void)lease_ms;
	(void)now;
	if (w->ask.id != id)
		return;
	w->pushed_token = token;
	w->pushed_clock = clock;
	hear(w);
}

static void on_look(void *arg, dlk_time now)
{
	(void)arg;
	(void)now;
	for (int i = 0; i < WORKERS; i++) {
		workers[i].look = 1;
		hear(&workers[i]);
	}
}

/* ---- A worker ------------------------------------------------------------ */

/* The waiter's op, which has a deadline, ends it.  A sleeping thread looks
 * again after 5 s, which must not hide a lost wake. */
static void await(struct dlki_waiter *w, dlk_time deadline)
{
	dlk_time begun = dlk_now();

	if (!dlki_drive(engine, w, deadline + patience_ms() * DLK_MS))
		FAIL("an op has not ended by its deadline");
	if (dlk_now() - begun > 4500 * slowness() * DLK_MS)
		FAIL("a wait of %" PRIi64 " ms", (dlk_now() - begun) / DLK_MS);
}

static void ask(struct worker *w, uint64_t lock, int64_t within_ms)
{
	dlk_time deadline = dlk_now() + within_ms * DLK_MS;

	w->owner = (uint64_t)(w - workers) << 8 | lock;
	w->ask.verb = DLKI_ATTEMPT;
	w->ask.id = ++w->serial << 16 | w->owner;
	w->ask.deadline = deadline;
	w->ask.done = ask_done;
	w->pushed_token = 0;
	w->look = 0;
	w->answer.done = 0;
	CHECK_INT(dlki_submit(engine, &w->ask), ==, 0);
	await(&w->answer, deadline);
}

/* `waits`: for the answer. */
static void release(struct worker *w, int waits)
{
	dlk_time deadline = dlk_now() + 5000 * slowness() * DLK_MS;

	w->rel.verb = DLKI_RELEASE;
	w->rel.token = w->owner;
	w->rel.deadline = deadline;
	w->rel.done = rel_done;
	w->released.done = 0;
	CHECK_INT(dlki_submit(engine, &w->rel), ==, 0);
	if (waits)
		await(&w->released, deadline);
	else
		dlki_drive_start(engine);
}

static void await_news(struct worker *w)
{
	dlk_time until = dlk_now() + 2 * patience_ms() * DLK_MS;

	dlki_unlock(engine);
	pthread_mutex_lock(&w->mu);
	while (!w->heard && dlk_now() < until)
		dlk_cond_wait(&w->news, &w->mu, until);
	CHECK(w->heard); /* or a wake was lost */
	w->heard = 0;
	pthread_mutex_unlock(&w->mu);
	CHECK(dlki_lock(engine) == 0);
}

/* After BUSY: 1: granted; 0: ask again. */
static int park(struct worker *w)
{
	uint64_t busy_clock = w->ask.store_clock_us;

	w->busy++;
	while (!w->look) {
		/* A grant from before the BUSY is of an earlier attempt. */
		if (w->pushed_token && w->pushed_clock >= busy_clock) {
			w->since = w->ask.since +
				   (dlk_time)(w->pushed_clock - busy_clock) *
					   1000;
			w->end = w->since + PUSHED_LEASE_MS * DLK_MS;
			w->pushes++;
			return 1;
		}
		await_news(w);
	}
	w->looks++;
	return 0;
}

/* 1: granted. */
static int acquire(struct worker *w, uint64_t lock)
{
	for (;;) {
		ask(w, lock, draw(w, 20) ? 3000 * slowness() : 1);
		switch (w->ask.outcome) {
		case DLKI_GRANTED:
			w->since = w->ask.since;
			w->end = w->since + w->ask.lease_ms * DLK_MS;
			return 1;
		case DLKI_BUSY:
			if (park(w))
				return 1;
			break;
		case DLKI_UNANSWERED:
			w->unanswered++;
			return 0;
		case DLKI_UNSENT:
			w->unsent++;
			return 0;
		default:
			FAIL("outcome %d", (int)w->ask.outcome);
		}
	}
}

/* Without the engine's mutex.  0: too little of the lease was left. */
static int hold(struct worker *w, uint64_t lock)
{
	dlk_time end = w->end - MARGIN_NS;
	dlk_time now = dlk_now();
	dlk_time other;

	if (now >= end)
		return 0;
	other = atomic_exchange(&held_until[lock], end);
	if (other != 0 && now < other)
		FAIL("lock %" PRIu64 " has two holders", lock);
	if (draw(w, 4) == 0)
		nap_us((int64_t)draw(w, 500));
	other = end;
	atomic_compare_exchange_strong(&held_until[lock], &other, 0);
	return 1;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	CHECK(dlki_lock(engine) == 0);
	while (!atomic_load(&stopped)) {
		uint64_t lock = draw(w, LOCKS);
		int granted = acquire(w, lock);

		if (granted) {
			dlki_unlock(engine);
			granted = hold(w, lock);
			CHECK(dlki_lock(engine) == 0);
			w->grants += granted;
		}
		release(w, draw(w, 3) != 0);
		if (draw(w, 3) == 0) {
			dlki_unlock(engine);
			nap_us((int64_t)draw(w, 2000));
			CHECK(dlki_lock(engine) == 0);
		}
		await(&w->released, w->rel.deadline);
	}
	dlki_unlock(engine);
	return NULL;
}

static void *cancel(void *arg)
{
	struct worker *w = arg;

	while (!atomic_load(&stopped)) {
		nap_us(3000);
		CHECK(dlki_lock(engine) == 0);
		dlki_cancel(&workers[draw(w, WORKERS)].ask);
		dlki_push(engine);
		dlki_unlock(engine);
	}
	return NULL;
}

static void *pump(void *world)
{
	struct pollfd news = { .fd = dlki_real_fd(world, DLKI_NEWS),
			       .events = POLLIN };

	while (!atomic_load(&all_joined)) {
		if (poll(&news, 1, 20) <= 0)
			continue;
		CHECK(dlki_lock(engine) == 0);
		dlki_drive_pump(engine);
		dlki_unlock(engine);
	}
	return NULL;
}

/* ---- The whole ----------------------------------------------------------- */

static void open_engine(uint16_t port, struct dlki_world *world)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.look_again = on_look,
	};
	struct dlki_engine_options options = {
		.world = world,
		.protocol = &lines_protocol,
		.label = "ear",
		.place.host = "slow.test",
		.place.port = port,
		.news = &news,
		.connect_ms = 2000 * slowness(),
		.patience_ms = 2000 * slowness(),
	};
	struct dlk_error err;

	engine = dlki_engine_new(&options, &err);
	CHECK(engine != NULL);
	CHECK(dlki_drive_begin(engine, NULL, &err) == 0);
}

/* Returns how many workers have held a lock. */
static int add_up(struct worker *sum)
{
	int held = 0;

	for (int i = 0; i < WORKERS; i++) {
		const struct worker *w = &workers[i];

		sum->grants += w->grants;
		sum->pushes += w->pushes;
		sum->looks += w->looks;
		sum->busy += w->busy;
		sum->unanswered += w->unanswered;
		sum->unsent += w->unsent;
		held += w->grants > 0;
	}
	return held;
}

/* A run without these events proves no rule. */
static int has_shown_all(void)
{
	struct worker sum = { 0 };
	int held;

	CHECK(dlki_lock(engine) == 0);
	held = add_up(&sum);
	dlki_unlock(engine);
	return held == WORKERS && server_kills() > 2 && sum.pushes > 0 &&
	       sum.looks > 0 && sum.unanswered > 0 && names_have_shown_both();
}

static void report(int kills)
{
	struct worker sum = { 0 };

	add_up(&sum);
	printf("%d kills, %ld holds, %ld busy, %ld pushed, %ld looks, "
	       "%ld unanswered, %ld unsent\n",
	       kills, sum.grants, sum.busy, sum.pushes, sum.looks,
	       sum.unanswered, sum.unsent);
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
	struct worker chaos = { .random = 99 };
	pthread_t threads[WORKERS], canceller, pumper;
	struct dlk_error err;
	struct dlki_world *world = dlki_real_new(&err);

	open_engine(server_start(130), world);
	for (int i = 0; i < WORKERS; i++) {
		struct worker *w = &workers[i];

		w->random = (uint64_t)i + 1;
		dlki_waiter_init(&w->answer);
		dlki_waiter_init(&w->released);
		pthread_mutex_init(&w->mu, NULL);
		dlk_cond_init(&w->news);
	}
	for (int i = 0; i < WORKERS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) ==
		      0);
	CHECK(pthread_create(&canceller, NULL, cancel, &chaos) == 0);
	CHECK(pthread_create(&pumper, NULL, pump, world) == 0);
	names_start();
	nap_ms(seconds * 1000);
	EVENTUALLY(has_shown_all());
	atomic_store(&stopped, 1);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(canceller, NULL);
	atomic_store(&all_joined, 1);
	pthread_join(pumper, NULL);
	names_stop();
	dlki_drive_end(engine);
	dlki_engine_free(engine);
	dlki_real_free(world);
	report(server_stop());
	return 0;
}
