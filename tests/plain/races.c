/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races in the core, for the thread sanitizer above all: threads that acquire,
 * release, cancel, wake, lose and look at the same time, on fake: and mem:.
 *
 * plain-races [SECONDS]: the time of each stage, 2 by default.
 */
#include <dlock/dlock.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "fake.h"
#include "support/race.h"
#include "support/wait.h"

#define THREADS 6
#define LOCKS 3

#define MUST(good) race_check(good, s->name, #good)

struct stage {
	const char *name, *uri;
	int leased; /* holds may be lost */
	dlock_client *client;
	dlock_lock *mutex[LOCKS], *rw, *sem, *multi;
	atomic_int stop;
	atomic_int inside[LOCKS];
	atomic_int readers, writers, permits;
	atomic_int in_log;   /* threads in the sink */
	unsigned long lines; /* written by the thread in the sink */
	atomic_ulong granted, overlaps, wrong, lost_events, lost_releases;
};

static void wrong(struct stage *s, const char *call, int rc)
{
	race_wrong(&s->wrong, s->name, call, rc);
}

static void hear(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	struct stage *s = arg;

	if (event == DLOCK_LOST) {
		atomic_fetch_add(&s->lost_events, 1);
		if (dlock_check(hold) != DLOCK_ELOST || why[0] == '\0')
			wrong(s, why, 0);
	}
}

static void release(struct stage *s, dlock_hold *h)
{
	int rc = dlock_release(h);

	if (rc == DLOCK_ELOST)
		atomic_fetch_add(&s->lost_releases, 1);
	else if (rc != DLOCK_OK && rc != DLOCK_EUNREACHABLE)
		wrong(s, "release", rc);
}

static int may_fail(struct stage *s, int rc)
{
	if (!race_may_end(rc))
		wrong(s, "acquire", rc);
	return rc;
}

/* Counts an overlap with another holder, unless the hold may be lost between
 * the check and the count. */
static void use_mutex(struct stage *s, unsigned int *seed)
{
	unsigned int i = race_draw(seed, LOCKS);
	dlock_hold *h = NULL, *again = NULL;

	if (may_fail(s, dlock_acquire(s->mutex[i], race_draw(seed, 30), &h)) <
	    0)
		return;
	atomic_fetch_add(&s->granted, 1);
	if (atomic_fetch_add(&s->inside[i], 1) != 0 && !s->leased)
		atomic_fetch_add(&s->overlaps, 1);
	if (race_draw(seed, 4) == 0 &&
	    dlock_acquire(s->mutex[i], 0, &again) == DLOCK_OK)
		release(s, again);
	if (race_draw(seed, 8) == 0 && dlock_hold_fd(h) < 0)
		wrong(s, "hold_fd", dlock_hold_fd(h));
	dlock_check(h);
	dlock_remaining_ms(h);
	if (race_draw(seed, 16) == 0)
		nap_us(200);
	atomic_fetch_sub(&s->inside[i], 1);
	release(s, h);
}

static void use_rwlock(struct stage *s, unsigned int *seed)
{
	dlock_hold *h = NULL, *r = NULL;

	if (race_draw(seed, 2)) {
		if (may_fail(s, dlock_acquire_shared(s->rw, race_draw(seed, 30),
						     &h)) < 0)
			return;
		atomic_fetch_add(&s->readers, 1);
		if (atomic_load(&s->writers) != 0 && !s->leased)
			atomic_fetch_add(&s->overlaps, 1);
		atomic_fetch_sub(&s->readers, 1);
		release(s, h);
		return;
	}
	if (may_fail(s, dlock_acquire(s->rw, race_draw(seed, 30), &h)) < 0)
		return;
	atomic_fetch_add(&s->writers, 1);
	if ((atomic_load(&s->readers) != 0 || atomic_load(&s->writers) != 1) &&
	    !s->leased)
		atomic_fetch_add(&s->overlaps, 1);
	if (dlock_acquire_shared(s->rw, 0, &r) != DLOCK_OK)
		r = NULL;
	atomic_fetch_sub(&s->writers, 1);
	release(s, h);
	if (r)
		release(s, r);
}

static void use_semaphore(struct stage *s, unsigned int *seed)
{
	dlock_hold *h = NULL;

	if (may_fail(s, dlock_acquire(s->sem, race_draw(seed, 30), &h)) < 0)
		return;
	if (atomic_fetch_add(&s->permits, 1) >= 2 && !s->leased)
		atomic_fetch_add(&s->overlaps, 1);
	atomic_fetch_sub(&s->permits, 1);
	release(s, h);
}

static void *worker(void *arg)
{
	struct stage *s = arg;
	static atomic_uint number;
	unsigned int seed = atomic_fetch_add(&number, 1);

	while (!atomic_load(&s->stop)) {
		dlock_hold *h = NULL;

		switch (race_draw(&seed, 8)) {
		case 0:
			use_semaphore(s, &seed);
			break;
		case 1:
			use_rwlock(s, &seed);
			break;
		case 2:
			if (may_fail(s, dlock_acquire(s->multi, 20, &h)) == 0)
				release(s, h);
			break;
		default:
			use_mutex(s, &seed);
			break;
		}
	}
	return NULL;
}

static void see_participant(const struct dlock_participant *p, void *arg)
{
	(void)p;
	++*(int *)arg;
}

static void see_entry(const struct dlock_lock_info *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

/* Cancels, wakes and harms the workers' locks. */
static void *meddler(void *arg)
{
	struct stage *s = arg;
	struct fake *fake = fake_store("");
	unsigned int seed = 4711;

	while (!atomic_load(&s->stop)) {
		struct dlock_stats st = { .size = sizeof(st) };
		uint64_t id = fake_last(fake, FAKE_ATTEMPT).id;
		dlock_lock *l = NULL;
		int n = 0;

		if (dlock_get_stats(s->client, &st) < 0)
			wrong(s, "get_stats", DLOCK_EINVAL);
		dlock_cancel(s->mutex[race_draw(&seed, LOCKS)]);
		dlock_cancel(s->multi);
		fake_wake(fake, id);
		fake_log(fake, "something happened");
		if (race_draw(&seed, 4) == 0)
			fake_want(fake, id);
		if (s->leased && st.passed > 0 && race_draw(&seed, 256) == 0)
			FAKE_SCRIPT(fake, FAKE_WATCH,
				    .fault = race_draw(&seed, 2) ? FAKE_CUT :
								   FAKE_WORK,
				    .tokens = 1);
		if (s->leased && race_draw(&seed, 64) == 0)
			fake_move(fake);
		if (s->leased && race_draw(&seed, 16) == 0)
			FAKE_SCRIPT(fake, FAKE_ATTEMPT, .says = "asked");
		if (s->leased)
			race_harm(fake, id, &seed);
		if (s->leased && race_draw(&seed, 32) == 0)
			fake_forget(fake);
		if (race_draw(&seed, 8) == 0 &&
		    dlock_mutex_new(&l, s->client, "m0") == DLOCK_OK)
			dlock_lock_free(l);
		dlock_inspect(s->mutex[0], see_participant, &n, 100);
		dlock_list(s->client, see_entry, &n, 100);
		nap_us(300);
	}
	return NULL;
}

/* Checks that a single thread is in the sink. */
static void read_log(const struct dlock_log_line *line, void *arg)
{
	struct stage *s = arg;

	if (line->level < 0 || !line->text[0] ||
	    atomic_fetch_add(&s->in_log, 1) != 0)
		wrong(s, "log", 0);
	s->lines++;
	atomic_fetch_sub(&s->in_log, 1);
}

static int set(struct stage *s)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_lock *members[3];
	char name[] = "m0";

	o.on_event = hear;
	o.on_log = read_log;
	o.arg = s;
	if (dlock_open(&s->client, s->uri, &o) < 0)
		return -1;
	for (int i = 0; i < LOCKS; i++) {
		name[1] = (char)('0' + i);
		if (dlock_mutex_new(&s->mutex[i], s->client, name) < 0)
			return -1;
	}
	members[0] = s->mutex[1];
	if (dlock_rwlock_new(&s->rw, s->client, "rw") < 0 ||
	    dlock_semaphore_new(&s->sem, s->client, "s", 2) < 0)
		return -1;
	members[1] = s->sem;
	members[2] = s->mutex[0];
	return dlock_multi_new(&s->multi, members, 3);
}

static void strike(struct stage *s)
{
	for (int i = 0; i < LOCKS; i++)
		dlock_lock_free(s->mutex[i]);
	dlock_lock_free(s->rw);
	dlock_lock_free(s->sem);
	dlock_lock_free(s->multi);
}

static void sum_up(struct stage *s)
{
	struct dlock_stats st = { .size = sizeof(st) };

	MUST(dlock_get_stats(s->client, &st) == DLOCK_OK);
	MUST(st.holds == 0);
	MUST(st.waiters == 0);
	MUST(atomic_load(&s->granted) > 100);
	MUST(atomic_load(&s->overlaps) == 0);
	MUST(atomic_load(&s->wrong) == 0);
	/* Both sides of a writer hear of a loss. */
	MUST(atomic_load(&s->lost_events) <= 2 * st.lost);
	MUST(s->leased || st.lost == 0);
	printf("%s: %lu granted, %lu lost, %lu told, %lu renewed\n", s->name,
	       (unsigned long)st.granted, (unsigned long)st.lost,
	       atomic_load(&s->lost_events), (unsigned long)st.renewed);
}

/* Runs all threads at once, and closes the client after the last release. */
static void hammer(struct stage *s)
{
	pthread_t thread[THREADS + 1];

	if (set(s) < 0) {
		race_check(0, s->name, dlock_errmsg());
		return;
	}
	for (int i = 0; i <= THREADS; i++)
		race_start(&thread[i], i < THREADS ? worker : meddler, s);
	nap_ms(race_ms);
	atomic_store(&s->stop, 1);
	for (int i = 0; i <= THREADS; i++)
		pthread_join(thread[i], NULL);
	fake_clear(fake_store(""));
	sum_up(s);
	dlock_close(s->client);
	strike(s);
	MUST(fake_held(fake_store("")) == 0 || s->leased);
	MUST(!s->leased || s->lines > 100);
	fake_forget(fake_store(""));
}

int main(int argc, char **argv)
{
	static struct stage stages[] = {
		{ .name = "mem", .uri = "mem:" },
		{ .name = "mem, leased", .uri = "mem:?ttl=5s" },
		{ .name = "fake", .uri = "fake:" },
		{ .name = "fake, polled",
		  .uri = "fake:?wake=off&retry_min=1ms&retry_max=3ms" },
		{ .name = "fake, leased",
		  .uri = "fake:?ttl=60ms&check=5ms",
		  .leased = 1 },
		{ .name = "fakewant", .uri = "fakewant:" },
		{ .name = "fakewant, kept", .uri = "fakewant:?keep=1h" },
		{ .name = "fakewant, leased",
		  .uri = "fakewant:?ttl=60ms&check=5ms&keep=10ms&passes=3",
		  .leased = 1 },
		{ .name = "fakewant, short",
		  .uri = "fakewant:?ttl=10ms&max_hold=8ms&keep=2ms",
		  .leased = 1 },
		{ .name = "fake, short",
		  .uri = "fake:?ttl=10ms&max_hold=8ms",
		  .leased = 1 },
	};

	if (race_begin(argc, argv) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		hammer(&stages[i]);
	return race_end();
}
