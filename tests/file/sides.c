/* SPDX-License-Identifier: Apache-2.0 */
/* A name is a single lock: a mutex handle is the write side of the read-write
 * lock of the name. */
#include "support.h"
#include "support/ticket.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without a notification, the wait lasts a second, until the safety poll. */
#define NOTIFIED_MS 700

struct two {
	const char *dir;
	dlock_client *a, *b;
	dlock_lock *mutex_a, *rw_a, *mutex_b, *rw_b;
};

static struct two t;

static void two(struct two *t)
{
	t->dir = store_dir();
	t->a = store_open(t->dir, NULL);
	t->b = store_open(t->dir, NULL);
	t->mutex_a = mutex(t->a, "x");
	t->rw_a = rwlock(t->a, "x");
	t->mutex_b = mutex(t->b, "x");
	t->rw_b = rwlock(t->b, "x");
}

/* Write until the file is ahead of the tokens, and update the latest token. */
static void grow_a_batch(dlock_lock *l, const char *dir, uint64_t *last)
{
	int64_t end = now_ms() + patience_ms();

	do {
		*last = token_after(*last, l);
		CHECK_INT(now_ms(), <, end);
	} while (stored_token(dir) - *last < 8);
}

static void reader_rises(dlock_lock *l, uint64_t *last)
{
	dlock_hold *h = take_shared(l, FOREVER);

	CHECK(dlock_token(h) > *last);
	*last = dlock_token(h);
	give(h);
}

/* A reader of the same client or of another client draws a token while the
 * writer has a batch in memory. */
CASE(file_sides, tokens_rise_when_a_reader_comes_into_a_batch)
{
	uint64_t last = 0;
	dlock_lock *reader[2];
	int i;

	two(&t);
	reader[0] = t.rw_b;
	reader[1] = t.rw_a;
	reader_rises(t.rw_b, &last);
	for (i = 0; i < 20; i++) {
		grow_a_batch(t.mutex_a, t.dir, &last);
		reader_rises(reader[i % 2], &last);
		last = token_after(last, t.mutex_a);
		last = token_after(last, t.mutex_a);
		if (i % 3 == 0)
			reader_rises(t.rw_b, &last);
		else
			last = token_after(last, t.rw_b);
		last = token_after(last, t.rw_a);
	}
}

/* A writer with a batch downgrades, and other readers join. */
CASE(file_sides, tokens_rise_beside_a_writer_turned_reader)
{
	uint64_t last = 0;
	dlock_hold *w, *r;
	int i;

	two(&t);
	reader_rises(t.rw_b, &last);
	for (i = 0; i < 10; i++) {
		grow_a_batch(t.rw_a, t.dir, &last);
		w = take(t.rw_a, 0);
		CHECK(dlock_token(w) > last);
		last = dlock_token(w);
		r = take_shared(t.rw_a, 0);
		CHECK_OK(dlock_release(w));
		reader_rises(t.rw_b, &last);
		CHECK_OK(dlock_release(r));
		last = token_after(last, t.mutex_a);
		last = token_after(last, t.mutex_b);
	}
}

/* ---- Waiting ------------------------------------------------------------- */

/* Return how long a mutex waits after the last of two readers has released: a
 * reader of the mutex's client, or of the other client. */
static int64_t waits_for_the_last(struct two *t, dlock_lock *first,
				  dlock_lock *last)
{
	dlock_hold *h[2] = { take_shared(first, 0), take_shared(last, 0) };
	struct taker w = { 0 };
	uint64_t attempts;
	int64_t begin;

	taker_queue(&w, t->a, t->mutex_a, FOREVER);
	attempts = stats(t->a).attempts;
	give(h[0]);
	if (first == t->rw_a)
		EVENTUALLY(stats(t->a).attempts > attempts);
	else
		nap_ms(1);
	CHECK(!w.done);
	begin = now_ms();
	give(h[1]);
	EVENTUALLY(w.done);
	CHECK_OK(let_go(&w));
	return w.done_ms - begin;
}

/* A reader in the waiter's client may not be the only reader. */
CASE(file_sides, a_mutex_waits_for_readers_of_all_clients)
{
	two(&t);
	CHECK_WITHIN(waits_for_the_last(&t, t.rw_b, t.rw_a), NOTIFIED_MS);
	CHECK_WITHIN(waits_for_the_last(&t, t.rw_a, t.rw_b), NOTIFIED_MS);
}

/* Return how long a reader waits after the writer at the gate gives up. A
 * reader of the same client holds all the time, so no release wakes the
 * waiter. */
static int64_t waits_for_the_gate(struct two *t)
{
	dlock_hold *own = take_shared(t->rw_a, 0);
	struct taker w = { 0 }, r = { .shared = 1 };
	int64_t given_up;

	taker_queue(&w, t->b, t->mutex_b, FOREVER);
	taker_queue(&r, t->a, t->rw_a, FOREVER);
	CHECK(!r.done);
	dlock_cancel(t->mutex_b);
	CHECK_INT(let_go(&w), ==, DLOCK_ECANCELED);
	given_up = now_ms();
	EVENTUALLY(r.done);
	CHECK_OK(let_go(&r));
	CHECK_OK(dlock_release(own));
	return r.done_ms - given_up;
}

CASE(file_sides, a_reader_waits_for_the_gate_beside_one_of_its_client)
{
	two(&t);
	CHECK_WITHIN(waits_for_the_gate(&t), NOTIFIED_MS / 2);
}

/* The claims of an upgrade and of the reader end in either order. */
CASE(file_sides, an_upgrade_that_waited_leaves_the_gate_open)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	struct ticket reader, upgrade, other;

	ticket_make(&reader, a, DLK_SHARED);
	ticket_make(&other, b, DLK_SHARED);
	CHECK_INT(ticket_ask(&reader), ==, DLK_GRANTED);
	CHECK_INT(ticket_ask(&other), ==, DLK_GRANTED);
	ticket_make(&upgrade, a, DLK_EXCLUSIVE);
	upgrade.base.request.beside = reader.owner;
	CHECK_INT(ticket_ask(&upgrade), ==, DLK_BUSY);
	ticket_give(&other);
	CHECK_INT(ticket_ask(&upgrade), ==, DLK_GRANTED);
	ticket_give(&reader);
	ticket_give(&upgrade);
	CHECK_INT(ticket_ask(&other), ==, DLK_GRANTED);
	ticket_give(&other);
}

static void wait_with_a_mutex(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	struct taker t = { 0 };

	EVENTUALLY(s->held);
	taker_queue(&t, c, mutex(c, "x"), FOREVER);
	s->waits = 1;
	CHECK_OK(let_go(&t));
	s->granted = 1;
	for (;;)
		pause();
}

/* A writer that waits for a writer does not stand at the gate. If that waiter
 * is stopped, readers still get in. */
CASE(file_sides, a_mutex_that_waits_for_a_mutex_keeps_no_reader_out)
{
	struct scene *s = scene();
	pid_t waiter = child(wait_with_a_mutex, s);
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *m = mutex(c, "x"), *rw = rwlock(c, "x");
	dlock_hold *h = take(m, 0);
	int status;

	s->held = 1;
	EVENTUALLY(s->waits);
	CHECK(kill(waiter, SIGSTOP) == 0);
	CHECK(waitpid(waiter, &status, WUNTRACED) == waiter);
	CHECK(WIFSTOPPED(status));
	CHECK_OK(dlock_release(h));
	CHECK_OK(dlock_release(take_shared(rw, 0)));
	CHECK(!s->granted);
	CHECK(kill(waiter, SIGCONT) == 0);
	EVENTUALLY(s->granted);
	child_kill(waiter);
}
