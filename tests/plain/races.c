/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races in the core, for the thread sanitizer above all: threads that acquire,
 * release, cancel, wake, lose and look at the same time, and calls that end in
 * callbacks, on fake: and mem:.
 *
 * plain-races [SECONDS]: the time of each stage, 2 by default.
 */
#include <dlock/async.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "support/hold.h"
#include "support/race.h"
#include "support/wait.h"

#define THREADS 6
#define PROCESSORS 2
#define LOCKS 3
#define PENDING 64 /* of the stage, about */

#define MUST(good) race_check(good, s->calls.name, #good)

struct stage {
	struct race_calls calls;
	const char *uri;
	int leased;     /* holds may be lost */
	int by_process; /* the events */
	dlock_client *client;
	dlock_lock *mutex[LOCKS], *rw, *sem, *multi;
	dlock_lock *unbound[LOCKS]; /* the same locks, for the calls */
	atomic_int stop;
	atomic_int inside[LOCKS];
	atomic_int readers, writers, permits;
	atomic_int in_event, in_log; /* threads there */
	unsigned long lines;         /* written by the thread in the sink */
	atomic_ulong granted, overlaps, lost_events;
};

static void wrong(struct stage *s, const char *call, int rc)
{
	race_wrong(&s->calls.wrong, s->calls.name, call, rc);
}

static void hear(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	struct stage *s = arg;
	atomic_int *inside = s->by_process ? &s->calls.in_callback :
					     &s->in_event;

	if (atomic_fetch_add(inside, 1) != 0)
		wrong(s, "two callbacks at once", 0);
	if (event == DLOCK_LOST) {
		atomic_fetch_add(&s->lost_events, 1);
		if (dlock_check(hold) != DLOCK_ELOST || why[0] == '\0')
			wrong(s, why, 0);
	}
	atomic_fetch_sub(inside, 1);
}

static void release(struct stage *s, dlock_hold *h)
{
	int rc = dlock_release(h);

	if (rc != DLOCK_OK && rc != DLOCK_ELOST && rc != DLOCK_EUNREACHABLE)
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
static void enter(struct stage *s, unsigned int i)
{
	atomic_fetch_add(&s->granted, 1);
	if (atomic_fetch_add(&s->inside[i], 1) != 0 && !s->leased)
		atomic_fetch_add(&s->overlaps, 1);
}

static void use_mutex(struct stage *s, unsigned int *seed)
{
	unsigned int i = race_draw(seed, LOCKS);
	dlock_hold *h = NULL, *again = NULL;

	if (may_fail(s, dlock_acquire(s->mutex[i], race_draw(seed, 30), &h)) <
	    0)
		return;
	enter(s, i);
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

static void has_it(dlock_hold *h, unsigned int i, void *arg)
{
	struct stage *s = arg;

	enter(s, i);
	if (dlock_check(h) != DLOCK_OK && !s->leased)
		wrong(s, "check", DLOCK_ELOST);
	atomic_fetch_sub(&s->inside[i], 1);
}

static void begin_call(struct stage *s, unsigned int *seed)
{
	unsigned int i = race_draw(seed, LOCKS);

	if (atomic_load(&s->calls.pending) < PENDING)
		race_call(&s->calls, s->client, s->unbound[i], i, seed);
}

static void *worker(void *arg)
{
	struct stage *s = arg;
	static atomic_uint number;
	unsigned int seed = atomic_fetch_add(&number, 1);

	while (!atomic_load(&s->stop)) {
		dlock_hold *h = NULL;

		switch (race_draw(&seed, 12)) {
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
		case 3:
		case 4:
		case 5:
		case 6:
			begin_call(s, &seed);
			break;
		default:
			use_mutex(s, &seed);
			break;
		}
	}
	return NULL;
}

static void *processor(void *arg)
{
	struct stage *s = arg;

	race_process(&s->calls, s->client, &s->stop);
	return NULL;
}

/* ---- The meddler --------------------------------------------------------- */

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
		if (s->leased)
			race_harm(fake, id, st.passed > 0, &seed);
		if (s->leased && race_draw(&seed, 8) == 0)
			dlock_cancel(s->unbound[race_draw(&seed, LOCKS)]);
		if (race_draw(&seed, 8) == 0 &&
		    dlock_mutex_new(&l, s->client, "m0") == DLOCK_OK)
			dlock_lock_free(l);
		dlock_inspect(s->mutex[0], count_participant, &n, 100);
		dlock_list(s->client, count_entry, &n, 100);
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

/* ---- A stage ------------------------------------------------------------- */

static int set(struct stage *s)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_lock *members[3];
	char name[] = "m0";

	o.on_event = hear;
	o.on_log = read_log;
	o.arg = s;
	s->calls.granted = has_it;
	s->calls.arg = s;
	if (dlock_open(&s->client, s->uri, &o) < 0)
		return -1;
	for (int i = 0; i < LOCKS; i++) {
		name[1] = (char)('0' + i);
		if (dlock_mutex_new(&s->mutex[i], s->client, name) < 0 ||
		    dlock_mutex_new(&s->unbound[i], s->client, name) < 0 ||
		    dlock_lock_unbind(s->unbound[i]) < 0)
			return -1;
	}
	if (dlock_rwlock_new(&s->rw, s->client, "rw") < 0 ||
	    dlock_semaphore_new(&s->sem, s->client, "s", 2) < 0)
		return -1;
	members[0] = s->mutex[1];
	members[1] = s->sem;
	members[2] = s->mutex[0];
	if (dlock_multi_new(&s->multi, members, 3) < 0)
		return -1;
	return s->by_process ? dlock_events_by_process(s->client) : 0;
}

static void strike(struct stage *s)
{
	for (int i = 0; i < LOCKS; i++) {
		dlock_lock_free(s->mutex[i]);
		dlock_lock_free(s->unbound[i]);
	}
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
	MUST(atomic_load(&s->calls.asked) > 100);
	MUST(atomic_load(&s->calls.told) == atomic_load(&s->calls.asked));
	MUST(atomic_load(&s->overlaps) == 0);
	MUST(atomic_load(&s->calls.wrong) == 0);
	/* Both sides of a writer hear of a loss. */
	MUST(atomic_load(&s->lost_events) <= 2 * st.lost);
	MUST(s->leased || st.lost == 0);
	printf("%s: %lu granted, %lu calls, %lu passed, %lu lost, %lu told, "
	       "%lu renewed\n",
	       s->calls.name, (unsigned long)st.granted,
	       atomic_load(&s->calls.asked), (unsigned long)st.passed,
	       (unsigned long)st.lost, atomic_load(&s->lost_events),
	       (unsigned long)st.renewed);
}

/* Runs all threads at once, and closes the client after the last release. */
static void hammer(struct stage *s)
{
	enum { MEDDLER = THREADS, ALL = THREADS + 1 + PROCESSORS };
	pthread_t thread[ALL];

	if (set(s) < 0) {
		race_check(0, s->calls.name, dlock_errmsg());
		return;
	}
	for (int i = 0; i < ALL; i++)
		race_start(&thread[i],
			   i < MEDDLER  ? worker :
			   i == MEDDLER ? meddler :
					  processor,
			   s);
	nap_ms(race_ms);
	atomic_store(&s->stop, 1);
	for (int i = 0; i <= MEDDLER; i++)
		pthread_join(thread[i], NULL);
	fake_clear(fake_store(""));
	EVENTUALLY(atomic_load(&s->calls.pending) == 0);
	for (int i = MEDDLER + 1; i < ALL; i++)
		pthread_join(thread[i], NULL);
	sum_up(s);
	dlock_close(s->client);
	strike(s);
	MUST(fake_held(fake_store("")) == 0 || s->leased);
	MUST(!s->leased || s->lines > 100);
	fake_forget(fake_store(""));
}

enum { LEASED = 1, BY_PROCESS = 2 };

static void play(const char *name, const char *uri, int how)
{
	static struct stage s;

	s = (struct stage){ .calls.name = name,
			    .uri = uri,
			    .leased = how & LEASED,
			    .by_process = how & BY_PROCESS };
	hammer(&s);
}

int main(int argc, char **argv)
{
	if (race_begin(argc, argv) != 0)
		return 1;
	play("mem", "mem:", 0);
	play("mem, by process", "mem:", BY_PROCESS);
	play("mem, leased", "mem:?ttl=5s", 0);
	play("fake", "fake:", 0);
	play("fake, polled", "fake:?wake=off&retry_min=1ms&retry_max=3ms", 0);
	play("fake, leased", "fake:?ttl=60ms&check=5ms", LEASED);
	play("fakewant", "fakewant:", 0);
	play("fakewant, kept", "fakewant:?keep=1h", 0);
	play("fakewant, leased",
	     "fakewant:?ttl=60ms&check=5ms&keep=10ms&passes=3",
	     LEASED | BY_PROCESS);
	play("fakewant, short", "fakewant:?ttl=10ms&max_hold=8ms&keep=2ms",
	     LEASED);
	play("fake, short", "fake:?ttl=10ms&max_hold=8ms", LEASED);
	return race_end();
}
