/* SPDX-License-Identifier: Apache-2.0 */
#include "race.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "support/wait.h"

int64_t race_ms = 2000;

static int n_passed, n_failed;

int race_begin(int argc, char **argv)
{
	if (argc > 1)
		race_ms = atol(argv[1]) * 1000;
	return fake_register();
}

void race_check(int good, const char *name, const char *what)
{
	if (good) {
		n_passed++;
		return;
	}
	n_failed++;
	printf("FAILED %s: %s\n", name, what);
}

int race_end(void)
{
	race_check(fake_complaint() == NULL, "rules of backend.h",
		   fake_complaint() ? fake_complaint() : "");
	printf("%d passed, %d failed, 0 skipped\n", n_passed, n_failed);
	return n_failed != 0;
}

void race_wrong(atomic_ulong *count, const char *name, const char *call, int rc)
{
	if (atomic_fetch_add(count, 1) == 0)
		printf("%s: %s: %s: %s\n", name, call, dlock_errname(rc),
		       rc < 0 ? dlock_errmsg() : "");
}

int race_may_end(int rc)
{
	return rc == DLOCK_OK || rc == DLOCK_EBUSY || rc == DLOCK_ECANCELED ||
	       rc == DLOCK_ELOST || rc == DLOCK_EUNREACHABLE;
}

unsigned int race_draw(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % below;
}

void race_harm(struct fake *fake, uint64_t id, int passes, unsigned int *seed)
{
	if (passes && race_draw(seed, 256) == 0)
		FAKE_SCRIPT(fake, FAKE_WATCH,
			    .fault = race_draw(seed, 2) ? FAKE_CUT : FAKE_WORK,
			    .tokens = 1);
	if (race_draw(seed, 64) == 0)
		fake_move(fake);
	if (race_draw(seed, 16) == 0)
		FAKE_SCRIPT(fake, FAKE_ATTEMPT, .says = "asked");
	if (race_draw(seed, 4) == 0)
		fake_lose(fake, id);
	if (race_draw(seed, 64) == 0)
		fake_lose_all(fake);
	if (race_draw(seed, 16) == 0)
		FAKE_SCRIPT(fake,
			    race_draw(seed, 2) ? FAKE_ATTEMPT : FAKE_RELEASE,
			    .fault = FAKE_CUT);
	if (race_draw(seed, 32) == 0)
		fake_forget(fake);
}

/* ---- Calls --------------------------------------------------------------*/

/* A call under way. */
struct call {
	struct race_calls *of;
	unsigned int lock;
	atomic_int told;
};

static void released(const struct dlock_result *r, void *arg)
{
	struct race_calls *c = arg;

	if (r->hold || (r->code != DLOCK_OK && r->code != DLOCK_ELOST &&
			r->code != DLOCK_EUNREACHABLE))
		race_wrong(&c->wrong, c->name, "release", r->code);
	atomic_fetch_sub(&c->pending, 1);
}

/* The first lock's release is no call. */
static void release(struct race_calls *c, unsigned int lock, dlock_hold *hold)
{
	atomic_fetch_add(&c->pending, 1);
	if (lock == 0 || dlock_release_start(hold, released, c) != DLOCK_OK) {
		atomic_fetch_sub(&c->pending, 1);
		dlock_release(hold);
	}
}

static void ended(const struct dlock_result *r, void *arg)
{
	struct call *call = arg;
	struct race_calls *c = call->of;

	if (atomic_fetch_add(&c->in_callback, 1) != 0)
		race_wrong(&c->wrong, c->name, "two callbacks at once", 0);
	if (atomic_fetch_add(&call->told, 1) != 0)
		race_wrong(&c->wrong, c->name, "a call told of twice", r->code);
	if (!race_may_end(r->code) || !r->hold != (r->code != DLOCK_OK))
		race_wrong(&c->wrong, c->name, "acquire_start", r->code);
	if (r->code == DLOCK_OK && c->granted)
		c->granted(r->hold, call->lock, c->arg);
	if (r->code == DLOCK_OK)
		release(c, call->lock, r->hold);
	free(call);
	atomic_fetch_add(&c->told, 1);
	atomic_fetch_sub(&c->in_callback, 1);
	atomic_fetch_sub(&c->pending, 1);
}

void race_call(struct race_calls *c, dlock_client *client, dlock_lock *lock,
	       unsigned int i, unsigned int *seed)
{
	int64_t timeout_ms = race_draw(seed, 4) ? (int64_t)race_draw(seed, 40) :
						  -1;
	struct call *call = calloc(1, sizeof(*call));
	dlock_op op;
	int rc;

	if (!call)
		abort();
	call->of = c;
	call->lock = i;
	atomic_fetch_add(&c->pending, 1);
	atomic_fetch_add(&c->asked, 1);
	rc = dlock_acquire_start(lock, timeout_ms, ended, call, &op);
	if (rc < 0) {
		race_wrong(&c->wrong, c->name, "acquire_start", rc);
		return;
	}
	if (race_draw(seed, 3))
		return;
	if (race_draw(seed, 2))
		nap_us(race_draw(seed, 200));
	rc = dlock_cancel_op(client, op);
	if (rc != DLOCK_OK && rc != DLOCK_EINVAL)
		race_wrong(&c->wrong, c->name, "cancel_op", rc);
}

void race_process(struct race_calls *c, dlock_client *client,
		  const atomic_int *stop)
{
	static atomic_int number;
	int polls = atomic_fetch_add(&number, 1) % 2;

	while (!atomic_load(stop) || atomic_load(&c->pending) > 0) {
		struct pollfd p = { .fd = dlock_client_fd(client),
				    .events = POLLIN };
		int rc;

		if (polls) {
			poll(&p, 1, 1);
			rc = dlock_process(client, 2);
		} else {
			rc = dlock_wait(client, 1);
		}
		if (rc < 0 && rc != DLOCK_EBUSY)
			race_wrong(&c->wrong, c->name, "process", rc);
	}
}

void race_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	if (pthread_create(thread, NULL, run, arg) != 0)
		abort();
}
