/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "chaos/round.h"
#include "lab/clock.h"
#include "lab/fail.h"

struct crew {
	struct chaos_bench b;
	struct chaos_hand hands[CHAOS_HANDS];
};

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	struct chaos_bench *b = arg;

	(void)why;
	if (event == DLOCK_LOST)
		chaos_desk_lost(&b->desk, hold);
	else if (event == DLOCK_AT_RISK)
		atomic_fetch_add(&b->page->at_risk, 1);
	else
		atomic_fetch_add(&b->page->safe, 1);
}

/* Has the controller let go? */
static int let_go(int timeout_ms)
{
	struct pollfd p = { .fd = CHAOS_LEASH, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

static int prepare(struct chaos_bench *b)
{
	const struct chaos_job *job = b->job;

	b->page = chaos_page_map(job->dir);
	b->history = lab_history_open(job->dir);
	if (!b->page || !b->history)
		return -1;
	chaos_desk_init(&b->desk, b->history);
	for (int i = 0; i < CHAOS_NAMES; i++) {
		b->guarded[i] = lab_resource_open(job->dir,
						  chaos_names[i].name);
		if (!b->guarded[i])
			return -1;
	}
	return 0;
}

/* The store may be out of reach just now.  1: open; 0: let go meanwhile. */
static int open_client(struct chaos_bench *b)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	int rc;

	o.on_event = on_event;
	o.arg = b;
	do {
		rc = dlock_open(&b->client, b->job->uri, &o);
		if (rc == DLOCK_OK) {
			atomic_fetch_add(&b->page->opened, 1);
			return 1;
		}
		if (rc != DLOCK_EUNREACHABLE)
			return lab_fail("dlock_open: %s: %s", dlock_errname(rc),
					dlock_errmsg());
		atomic_fetch_add(&b->page->not_opened, 1);
	} while (!let_go(20));
	return 0;
}

static void *hand(void *arg)
{
	struct chaos_hand *me = arg;

	while (!atomic_load(&me->b->stop)) {
		chaos_round(me);
		lab_nap_ms(chaos_between(&me->draw, 0, 6));
	}
	return NULL;
}

static int start_hand(struct crew *c, int i)
{
	struct chaos_hand *h = &c->hands[i];

	h->b = &c->b;
	h->draw.state = c->b.job->seed ^ (uint64_t)(i + 1) << 48;
	pthread_mutex_init(&h->lock, NULL);
	if (chaos_make_handles(&c->b, h->own) != DLOCK_OK)
		return lab_fail("%s", dlock_errmsg());
	return pthread_create(&h->thread, NULL, hand, h) ?
		       lab_fail("no thread") :
		       0;
}

static int run(struct crew *c)
{
	int threads = c->b.job->threads;
	bool over = false;

	if (chaos_make_handles(&c->b, c->b.shared) != DLOCK_OK)
		return lab_fail("%s", dlock_errmsg());
	for (int i = 0; i < threads; i++)
		if (start_hand(c, i) < 0)
			return -1;
	while (!over) {
		over = let_go(10);
		chaos_desk_sample(&c->b.desk);
		for (int i = 0; i < threads && !over; i++)
			chaos_cancel(&c->hands[i]);
	}
	atomic_store(&c->b.stop, true);
	for (int i = 0; i < threads; i++) {
		while (pthread_tryjoin_np(c->hands[i].thread, NULL)) {
			for (int j = 0; j < threads; j++)
				chaos_cancel(&c->hands[j]);
			lab_nap_ms(5);
		}
		for (int j = 0; j < CHAOS_NAMES; j++)
			dlock_free(c->hands[i].own[j]);
	}
	for (int j = 0; j < CHAOS_NAMES; j++)
		dlock_free(c->b.shared[j]);
	return 0;
}

int chaos_worker(const struct chaos_job *job)
{
	static struct crew crew;
	int rc;

	crew.b.job = job;
	rc = prepare(&crew.b);
	if (rc == 0) {
		rc = open_client(&crew.b);
		if (rc > 0)
			rc = run(&crew);
		dlock_close(crew.b.client);
	}
	for (int i = 0; i < CHAOS_NAMES; i++)
		lab_resource_close(crew.b.guarded[i]);
	if (lab_history_close(crew.b.history) < 0)
		rc = -1;
	if (rc < 0)
		fprintf(stderr, "chaos worker: %s\n", lab_errmsg());
	return rc < 0 ? 1 : 0;
}
