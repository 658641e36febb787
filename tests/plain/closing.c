/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races at the ends of a client's life, for the thread sanitizer above all:
 * clients that open and close at the same time, a close under waits, calls and
 * losses, and two threads that ask for the descriptor of the same hold.
 *
 * plain-closing [SECONDS]: the time of a stage of closing, 2 by default.
 */
#include <dlock/dlock.h>

#include <stdio.h>

#include "core/base/clock.h"
#include "fake.h"
#include "support/race.h"
#include "support/wait.h"

#define WAITERS 4
#define CALLS 16

#define MUST(good) race_check(good, s->calls.name, #good)

struct stage {
	struct race_calls calls;
	const char *uri;
	int by_process; /* the events */
	dlock_client *client;
	dlock_lock *mutex, *sem, *multi;
	dlock_lock *unbound[2]; /* "m0" and another mutex, for the calls */
	atomic_int inside;
	atomic_ulong overlaps;
};

static void wrong(struct stage *s, const char *call, int rc)
{
	race_wrong(&s->calls.wrong, s->calls.name, call, rc);
}

static void release(struct stage *s, dlock_hold *h)
{
	int rc = dlock_release(h);

	if (rc != DLOCK_OK && rc != DLOCK_ELOST)
		wrong(s, "release", rc);
}

static void hear(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	if (event == DLOCK_LOST && dlock_check(hold) != DLOCK_ELOST)
		wrong(arg, why, 0);
}

static void read_log(const struct dlock_log_line *line, void *arg)
{
	if (!line->text[0])
		wrong(arg, "log", 0);
}

static int set(struct stage *s)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_lock *members[2];

	o.on_event = hear;
	o.on_log = read_log;
	o.arg = s;
	if (dlock_open(&s->client, s->uri, &o) < 0 ||
	    dlock_mutex_new(&s->mutex, s->client, "m0") < 0 ||
	    dlock_mutex_new(&s->unbound[0], s->client, "m0") < 0 ||
	    dlock_mutex_new(&s->unbound[1], s->client, "m1") < 0 ||
	    dlock_lock_unbind(s->unbound[0]) < 0 ||
	    dlock_lock_unbind(s->unbound[1]) < 0 ||
	    dlock_semaphore_new(&s->sem, s->client, "s", 2) < 0)
		return -1;
	members[0] = s->mutex;
	members[1] = s->sem;
	if (dlock_multi_new(&s->multi, members, 2) < 0)
		return -1;
	return s->by_process ? dlock_events_by_process(s->client) : 0;
}

static void strike(struct stage *s)
{
	dlock_lock_free(s->unbound[0]);
	dlock_lock_free(s->unbound[1]);
	dlock_lock_free(s->mutex);
	dlock_lock_free(s->sem);
	dlock_lock_free(s->multi);
}

static void *waits(void *arg)
{
	struct stage *s = arg;
	dlock_hold *h = NULL;
	int rc = dlock_acquire(s->mutex, -1, &h);

	if (rc == DLOCK_OK)
		release(s, h);
	else if (rc != DLOCK_ECANCELED)
		wrong(s, "acquire", rc);
	return NULL;
}

static void closed(const struct dlock_result *r, void *over)
{
	(void)r;
	*(int *)over = 1;
}

/* Closes the client at once, or begins the close and waits for the end. */
static void close_somehow(struct stage *s, int begun)
{
	int over = 0;

	if (!begun || dlock_close_start(s->client, closed, &over) < 0) {
		dlock_close(s->client);
		return;
	}
	while (!over) {
		if (dlock_wait(s->client, -1) != DLOCK_OK)
			wrong(s, "wait", 0);
	}
}

static int close_once(struct stage *s, int round, unsigned int *seed)
{
	pthread_t thread[WAITERS];
	dlock_hold *h = NULL;
	struct dlock_stats st = { .size = sizeof(st) };

	if (set(s) < 0 || dlock_acquire(s->mutex, 1000, &h) != DLOCK_OK) {
		race_check(0, s->calls.name, dlock_errmsg());
		return -1;
	}
	for (int i = 0; i < WAITERS; i++)
		race_start(&thread[i], waits, s);
	/* All waits must have begun before the close. */
	while (dlock_get_stats(s->client, &st) == 0 && st.waiters < WAITERS)
		nap_us(50);
	for (unsigned int i = 0; i < CALLS; i++)
		race_call(&s->calls, s->client, s->unbound[i % 2], i % 2, seed);
	if (round % 3)
		(void)dlock_process(s->client, round % 3);
	nap_us(race_draw(seed, 500));
	if (round % 2)
		fake_lose_all(fake_store(""));
	close_somehow(s, round % 4 > 1);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(thread[i], NULL);
	if (dlock_release(h) != DLOCK_ELOST)
		wrong(s, "release after close", 0);
	strike(s);
	return 0;
}

/* Closes the client under waits and calls, and loses the hold at the same
 * moment. */
static void close_under(struct stage *s)
{
	dlk_time until = dlk_now() + race_ms * DLK_MS;
	unsigned int seed = 17;
	int rounds = 0;

	while (dlk_now() < until) {
		if (close_once(s, ++rounds, &seed) < 0)
			return;
	}
	MUST(rounds > 10);
	MUST(atomic_load(&s->calls.told) == atomic_load(&s->calls.asked));
	MUST(atomic_load(&s->calls.wrong) == 0);
	MUST(fake_held(fake_store("")) == 0);
	printf("%s: %d rounds, %lu calls\n", s->calls.name, rounds,
	       atomic_load(&s->calls.told));
}

static void *asks_for_fd(void *arg)
{
	int fd = dlock_hold_fd(arg);

	return (void *)(intptr_t)fd;
}

/* Two threads ask for the descriptor of a multi-lock's hold. */
static void one_descriptor(struct stage *s)
{
	int same = 1;

	if (set(s) < 0) {
		race_check(0, s->calls.name, dlock_errmsg());
		return;
	}
	for (int i = 0; i < 200; i++) {
		pthread_t thread[2];
		void *fd[2] = { NULL, NULL };
		dlock_hold *h = NULL;

		if (dlock_acquire(s->multi, 1000, &h) != DLOCK_OK) {
			race_check(0, s->calls.name, dlock_errmsg());
			break;
		}
		for (int k = 0; k < 2; k++)
			race_start(&thread[k], asks_for_fd, h);
		for (int k = 0; k < 2; k++)
			pthread_join(thread[k], &fd[k]);
		same &= fd[0] == fd[1] && (intptr_t)fd[0] >= 0;
		release(s, h);
	}
	MUST(same);
	dlock_close(s->client);
	strike(s);
}

/* Opens and closes clients beside other threads, with a common lock. */
static void *opens(void *arg)
{
	struct stage *s = arg;

	for (int i = 0; i < 50; i++) {
		dlock_client *c = NULL;
		dlock_lock *l = NULL;
		dlock_hold *h = NULL;

		if (dlock_open(&c, s->uri, NULL) < 0 ||
		    dlock_mutex_new(&l, c, "together") < 0 ||
		    dlock_acquire(l, 10000, &h) < 0) {
			wrong(s, "open and acquire", DLOCK_ESYSTEM);
			continue;
		}
		if (atomic_fetch_add(&s->inside, 1) != 0)
			atomic_fetch_add(&s->overlaps, 1);
		atomic_fetch_sub(&s->inside, 1);
		release(s, h);
		dlock_lock_free(l);
		dlock_close(c);
	}
	return NULL;
}

static void open_at_once(struct stage *s)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		race_start(&thread[i], opens, s);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	MUST(atomic_load(&s->calls.wrong) == 0);
	MUST(atomic_load(&s->overlaps) == 0);
}

int main(int argc, char **argv)
{
	static struct stage closing = { .calls.name = "closing",
					.uri = "fake:?ttl=5s" };
	static struct stage closing_kept = { .calls.name = "closing, kept",
					     .uri = "fakewant:?ttl=5s&keep=2s",
					     .by_process = 1 };
	static struct stage fd = { .calls.name = "descriptor", .uri = "fake:" };
	static struct stage together = { .calls.name = "opening",
					 .uri = "mem:" };

	if (race_begin(argc, argv) != 0)
		return 1;
	close_under(&closing);
	close_under(&closing_kept);
	one_descriptor(&fd);
	open_at_once(&together);
	return race_end();
}
