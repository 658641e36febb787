/* SPDX-License-Identifier: Apache-2.0 */
/* A second client of the process, closed while it holds and waits. */
#include "chaos/mix.h"
#include "lab/base/clock.h"

#define CALLS 4

struct call { /* an asynchronous acquire */
	struct chaos_held h;
	dlock_lock *lock;
	dlock_op op;
	int begun, over, rc;
	int closes; /* the close ends the hold */
};

static const struct target {
	int name;
	enum lab_mode mode;
} targets[CALLS] = {
	{ CHAOS_ONE, LAB_MUTEX },
	{ CHAOS_BOOK, LAB_READ },
	{ CHAOS_SEATS, LAB_PERMIT },
	{ CHAOS_PAGE, LAB_WRITE },
};

static void ended(const struct dlock_result *r, void *arg)
{
	struct call *k = arg;

	chaos_answered(&k->h, r->code, r->hold);
	k->rc = r->code;
	k->over = 1;
	if (!chaos_usual(r->code) && r->code != DLOCK_ECANCELED)
		chaos_odd(&k->h, "acquire of a client to be closed", r->code);
}

static int begin(struct chaos_thread *me, dlock_client *c, struct call *k,
		 const struct target *t)
{
	int64_t wait = 2 * me->w->job->ttl_ms;
	unsigned limit = chaos_names[t->name].limit;
	int rc = chaos_make_handle(c, t->name, t->mode, &k->lock);

	k->h = chaos_held(me, t->name,
			  t->mode == LAB_MUTEX || t->mode == LAB_WRITE);
	if (rc == DLOCK_OK)
		rc = dlock_lock_unbind(k->lock);
	if (rc != DLOCK_OK)
		return rc;
	/* The close ends the call, and may take longer than the wait. */
	k->h.op = lab_holds_acquire(&me->w->holds, k->h.name, t->mode, limit,
				    -1);
	lab_history_note(me->w->history, CHAOS_ASYNC_NOTE, k->h.op);
	rc = t->mode == LAB_READ ?
		     dlock_acquire_shared_start(k->lock, wait, ended, k,
						&k->op) :
		     dlock_acquire_start(k->lock, wait, ended, k, &k->op);
	k->begun = rc == DLOCK_OK;
	if (!k->begun)
		chaos_answered(&k->h, rc, NULL);
	return rc;
}

/* Let some be granted, and cancel a call. */
static void let_go_on(struct chaos_thread *me, dlock_client *c,
		      struct call *calls)
{
	struct call *k = &calls[chaos_between(&me->random, 0, CALLS - 1)];
	int64_t end = lab_after_ms(
		chaos_between(&me->random, 0, me->w->job->ttl_ms / 3));
	int cancelled = 0;

	if (chaos_chance(&me->random, 75) && k->begun && !k->over)
		cancelled = dlock_cancel_op(c, k->op) == DLOCK_OK;
	while (lab_now() < end) {
		(void)dlock_wait(c, 2);
		for (int i = 0; i < CALLS; i++)
			if (calls[i].over && calls[i].rc == DLOCK_OK)
				chaos_write(&calls[i].h);
	}
	if (cancelled && k->over && k->rc == DLOCK_ECANCELED)
		chaos_did(me, CHAOS_CANCEL_OP);
}

static void begin_release(struct chaos_thread *me, const struct call *k)
{
	lab_holds_release(&me->w->holds, k->h.op);
}

static void end_release(struct chaos_thread *me, const struct call *k)
{
	lab_holds_released(&me->w->holds, k->h.op, DLOCK_EUNREACHABLE);
}

/* The promises end before the close, which may lose the holds. */
static void close_it(struct chaos_thread *me, dlock_client *c,
		     struct call *calls)
{
	int waits = 0, holds = 0;

	for (int i = 0; i < CALLS; i++) {
		struct call *k = &calls[i];

		waits += k->begun && !k->over;
		k->closes = k->over && k->rc == DLOCK_OK;
		holds += k->closes;
		if (k->closes)
			begin_release(me, k);
	}
	dlock_close(c);
	for (int i = 0; i < CALLS; i++) {
		if (calls[i].closes)
			end_release(me, &calls[i]);
	}
	chaos_did(me, CHAOS_CLOSE);
	if (waits)
		chaos_did(me, CHAOS_CLOSE_WAITING);
	if (holds)
		chaos_did(me, CHAOS_CLOSE_HELD);
}

static void finish(struct chaos_thread *me, struct call *k)
{
	if (k->begun && !k->over)
		chaos_odd(&k->h, "no callback by the close", DLOCK_OK);
	if (k->over && k->rc == DLOCK_OK) {
		int rc;

		if (!k->closes) {
			begin_release(me, k);
			end_release(me, k);
		}
		rc = dlock_release(k->h.hold);
		if (rc != DLOCK_ELOST)
			chaos_odd(&k->h, "release after the close", rc);
	}
	dlock_lock_free(k->lock);
}

void chaos_use_close(struct chaos_thread *me)
{
	struct call calls[CALLS] = { { .over = 0 } };
	struct chaos_held none = chaos_held(me, CHAOS_ONE, 0);
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c;
	int rc;

	o.on_event = chaos_on_event;
	o.arg = me->w;
	o.once = 1;
	rc = dlock_open(&c, me->w->job->uri, &o);
	if (rc != DLOCK_OK) {
		if (rc != DLOCK_EUNREACHABLE)
			chaos_odd(&none, "open of a second client", rc);
		return;
	}
	for (int i = 0; i < CALLS && rc == DLOCK_OK; i++)
		rc = begin(me, c, &calls[i], &targets[i]);
	if (rc != DLOCK_OK)
		chaos_odd(&none, "an acquire of a second client", rc);
	let_go_on(me, c, calls);
	close_it(me, c, calls);
	for (int i = 0; i < CALLS; i++)
		finish(me, &calls[i]);
}
