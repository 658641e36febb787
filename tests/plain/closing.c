/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races at the ends of a client's life, for the thread sanitizer above all:
 * clients that open and close at the same time, a close under waits and losses,
 * and two threads that ask for the descriptor of the same hold.
 *
 * plain-closing [SECONDS]: the time of a stage of closing, 2 by default.
 */
#include <dlock/dlock.h>

#include <stdio.h>

#include "core/base/clock.h"
#include "fake.h"
#include "support/race.h"
#include "support/wait.h"

#define MUST(good) race_check(good, s->name, #good)

struct stage {
	const char *name, *uri;
	dlock_client *client;
	dlock_lock *mutex, *sem, *multi;
	atomic_int inside;
	atomic_ulong overlaps, wrong;
};

static void wrong(struct stage *s, const char *call, int rc)
{
	race_wrong(&s->wrong, s->name, call, rc);
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
	    dlock_semaphore_new(&s->sem, s->client, "s", 2) < 0)
		return -1;
	members[0] = s->mutex;
	members[1] = s->sem;
	return dlock_multi_new(&s->multi, members, 2);
}

static void strike(struct stage *s)
{
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

/* Closes the client under waits, and loses the hold at the same moment. */
static void close_under(struct stage *s)
{
	dlk_time until = dlk_now() + race_ms * DLK_MS;
	int rounds = 0;

	while (dlk_now() < until) {
		pthread_t thread[4];
		dlock_hold *h = NULL;
		struct dlock_stats st = { .size = sizeof(st) };

		rounds++;
		if (set(s) < 0 ||
		    dlock_acquire(s->mutex, 1000, &h) != DLOCK_OK) {
			race_check(0, s->name, dlock_errmsg());
			return;
		}
		for (int i = 0; i < 4; i++)
			race_start(&thread[i], waits, s);
		/* All waits must have begun before the close. */
		while (dlock_get_stats(s->client, &st) == 0 && st.waiters < 4)
			nap_us(50);
		if (rounds % 2)
			fake_lose_all(fake_store(""));
		dlock_close(s->client);
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
		if (dlock_release(h) != DLOCK_ELOST)
			wrong(s, "release after close", 0);
		strike(s);
	}
	MUST(rounds > 10);
	MUST(atomic_load(&s->wrong) == 0);
	MUST(fake_held(fake_store("")) == 0);
	printf("%s: %d rounds\n", s->name, rounds);
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
		race_check(0, s->name, dlock_errmsg());
		return;
	}
	for (int i = 0; i < 200; i++) {
		pthread_t thread[2];
		void *fd[2] = { NULL, NULL };
		dlock_hold *h = NULL;

		if (dlock_acquire(s->multi, 1000, &h) != DLOCK_OK) {
			race_check(0, s->name, dlock_errmsg());
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
	MUST(atomic_load(&s->wrong) == 0);
	MUST(atomic_load(&s->overlaps) == 0);
}

int main(int argc, char **argv)
{
	static struct stage closing = { .name = "closing",
					.uri = "fake:?ttl=5s" };
	static struct stage closing_kept = {
		.name = "closing, kept", .uri = "fakewant:?ttl=5s&keep=2s"
	};
	static struct stage fd = { .name = "descriptor", .uri = "fake:" };
	static struct stage together = { .name = "opening", .uri = "mem:" };

	if (race_begin(argc, argv) != 0)
		return 1;
	close_under(&closing);
	close_under(&closing_kept);
	one_descriptor(&fd);
	open_at_once(&together);
	return race_end();
}
