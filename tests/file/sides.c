/* SPDX-License-Identifier: Apache-2.0 */
/* One name is one lock: a mutex handle is the writer's side of what a
 * read-write handle of that name locks. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/file/state.h"

/* A second is what the safety poll takes when nobody is notified. */
#define NOTIFIED_MS 700

struct two {
	const char *file;
	dlock_client *a, *b;
	dlock_lock *mutex_a, *rw_a, *mutex_b, *rw_b;
};

static void two(struct two *t)
{
	const char *dir = store_dir();

	t->a = store_open(dir, NULL);
	t->b = store_open(dir, NULL);
	t->mutex_a = mutex(t->a, "x");
	t->rw_a = rwlock(t->a, "x");
	t->mutex_b = mutex(t->b, "x");
	t->rw_b = rwlock(t->b, "x");
	t->file = store_file(dir, "l", "x");
}

/* ---- Exclusion ----------------------------------------------------------- */

/* What the processes of a crowd share. */
struct crowd {
	char dir[PATH_MAX];
	atomic_int writers, readers;
	_Atomic uint64_t last;
	atomic_uint seed;
};

/* `least` is what was drawn before this acquire began. */
static void note_token(struct crowd *s, uint64_t token, uint64_t least)
{
	uint64_t last = s->last;

	CHECK(token > least);
	while (last < token &&
	       !atomic_compare_exchange_weak(&s->last, &last, token))
		continue;
}

static void write_once(struct crowd *s, dlock_lock *l)
{
	uint64_t least = s->last;
	dlock_hold *h = take(l, FOREVER);

	CHECK_INT(s->writers++, ==, 0);
	CHECK_INT(s->readers, ==, 0);
	CHECK(dlock_token(h) > s->last);
	note_token(s, dlock_token(h), least);
	s->writers--;
	CHECK_OK(dlock_release(h));
}

static void read_once(struct crowd *s, dlock_lock *l)
{
	uint64_t least = s->last;
	dlock_hold *h = take_shared(l, FOREVER);

	s->readers++;
	CHECK_INT(s->writers, ==, 0);
	note_token(s, dlock_token(h), least);
	s->readers--;
	CHECK_OK(dlock_release(h));
}

/* Runs of writes of all lengths, by either handle, and a few reads between. */
static void write_and_read(void *arg)
{
	struct crowd *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *m = mutex(c, "x"), *rw = rwlock(c, "x");
	unsigned int seed = ++s->seed, i, run;

	for (i = 0; i < 60; i++) {
		run = (unsigned int)rand_r(&seed) % 400;
		while (run--)
			write_once(s, run % 64 ? m : rw);
		for (run = (unsigned int)rand_r(&seed) % 4; run; run--)
			read_once(s, rw);
	}
	end_now(m);
	end_now(rw);
	end_now(c);
}

CASE(file_sides, exclude_each_other_in_a_crowd, .timeout = 120)
{
	struct crowd *s = shared(sizeof(*s));
	pid_t pid[3];
	int i;

	store_make(s->dir);
	for (i = 0; i < 3; i++)
		pid[i] = child(write_and_read, s);
	for (i = 0; i < 3; i++)
		child_ended(pid[i]);
}

/* ---- Tokens -------------------------------------------------------------- */

/* The greatest token in the file. */
static uint64_t stored(const char *file)
{
	struct file_header h;
	struct file_state st;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(dlki_file_load(fd, DLK_LOCK, "x", &h, &st) == FILE_GOOD);
	close(fd);
	return st.last;
}

/* Write until the file is ahead of the tokens, and remember the last one. */
static void grow_a_batch(dlock_lock *l, const char *file, uint64_t *last)
{
	dlock_hold *h;
	int64_t end = now_ms() + patience_ms();

	do {
		h = take(l, FOREVER);
		CHECK(dlock_token(h) > *last);
		*last = dlock_token(h);
		CHECK_OK(dlock_release(h));
		CHECK_INT(now_ms(), <, end);
	} while (stored(file) - *last < 8);
}

static void rises(dlock_lock *l, int as_reader, uint64_t *last)
{
	dlock_hold *h = as_reader ? take_shared(l, FOREVER) : take(l, FOREVER);

	CHECK(dlock_token(h) > *last);
	*last = dlock_token(h);
	CHECK_OK(dlock_release(h));
}

/* A reader draws a token while the writer has a batch in memory: another
 * client's, and one of its own. */
CASE(file_sides, tokens_rise_when_a_reader_comes_into_a_batch)
{
	uint64_t last = 0;
	struct two t;
	dlock_lock *reader[2];
	int i;

	two(&t);
	reader[0] = t.rw_b;
	reader[1] = t.rw_a;
	rises(t.rw_b, 1, &last);
	for (i = 0; i < 20; i++) {
		grow_a_batch(t.mutex_a, t.file, &last);
		rises(reader[i % 2], 1, &last);
		rises(t.mutex_a, 0, &last);
		rises(t.mutex_a, 0, &last);
		rises(t.rw_b, i % 3 == 0, &last);
		rises(t.rw_a, 0, &last);
	}
}

/* A writer out of a batch turns reader, and others come in beside it. */
CASE(file_sides, tokens_rise_beside_a_writer_turned_reader)
{
	uint64_t last = 0;
	dlock_hold *w, *r;
	struct two t;
	int i;

	two(&t);
	rises(t.rw_b, 1, &last);
	for (i = 0; i < 10; i++) {
		grow_a_batch(t.rw_a, t.file, &last);
		w = take(t.rw_a, 0);
		CHECK(dlock_token(w) > last);
		last = dlock_token(w);
		r = take_shared(t.rw_a, 0);
		CHECK_OK(dlock_release(w));
		rises(t.rw_b, 1, &last);
		CHECK_OK(dlock_release(r));
		rises(t.mutex_a, 0, &last);
		rises(t.mutex_b, 0, &last);
	}
}

/* ---- Waiting ------------------------------------------------------------- */

/* How long a waiter on `wanted` waits when `h` is released. */
static int64_t waits_for(dlock_hold *h, dlock_client *c, dlock_lock *wanted,
			 int as_reader)
{
	struct taker t = { .shared = as_reader };
	int64_t begin;

	taker_queue(&t, c, wanted, FOREVER);
	CHECK(!t.done);
	begin = now_ms();
	CHECK_OK(dlock_release(h));
	CHECK_OK(let_go(&t));
	CHECK_OK(t.release_rc);
	return t.done_ms - begin;
}

CASE(file_sides, wake_each_other)
{
	struct two t;

	two(&t);
	CHECK_WITHIN(waits_for(take_shared(t.rw_a, 0), t.b, t.mutex_b, 0),
		     NOTIFIED_MS);
	CHECK_WITHIN(waits_for(take(t.mutex_a, 0), t.b, t.rw_b, 1),
		     NOTIFIED_MS);
	CHECK_WITHIN(waits_for(take(t.mutex_a, 0), t.b, t.rw_b, 0),
		     NOTIFIED_MS);
	CHECK_WITHIN(waits_for(take_shared(t.rw_a, 0), t.a, t.mutex_a, 0),
		     NOTIFIED_MS);
	CHECK_WITHIN(waits_for(take(t.mutex_a, 0), t.a, t.rw_a, 1),
		     NOTIFIED_MS);
}

/* How long a mutex waits for a reader of another client when one of its own
 * client has released before. */
static int64_t waits_for_both(struct two *t)
{
	dlock_hold *own = take_shared(t->rw_a, 0), *other;
	struct taker w = { 0 };
	int64_t begin;

	other = take_shared(t->rw_b, 0);
	taker_queue(&w, t->a, t->mutex_a, FOREVER);
	CHECK_OK(dlock_release(other));
	nap_ms(1);
	CHECK(!w.done);
	begin = now_ms();
	CHECK_OK(dlock_release(own));
	EVENTUALLY(w.done);
	CHECK_OK(let_go(&w));
	return w.done_ms - begin;
}

/* The same, and the other's reader is the last to go. */
static int64_t waits_for_the_other(struct two *t)
{
	dlock_hold *own = take_shared(t->rw_a, 0), *other;
	struct taker w = { 0 };
	uint64_t attempts;
	int64_t begin;

	other = take_shared(t->rw_b, 0);
	taker_queue(&w, t->a, t->mutex_a, FOREVER);
	attempts = stats(t->a).attempts;
	CHECK_OK(dlock_release(own));
	EVENTUALLY(stats(t->a).attempts > attempts);
	CHECK(!w.done);
	begin = now_ms();
	CHECK_OK(dlock_release(other));
	EVENTUALLY(w.done);
	CHECK_OK(let_go(&w));
	return w.done_ms - begin;
}

/* A reader in the waiter's own client is not the only one. */
CASE(file_sides, a_mutex_waits_for_readers_of_all_clients)
{
	struct two t;

	two(&t);
	CHECK_WITHIN(waits_for_both(&t), NOTIFIED_MS);
	CHECK_WITHIN(waits_for_the_other(&t), NOTIFIED_MS);
}

/* How long a reader waits when the writer at the gate gives up.  A reader of
 * its own client is in all the time, and so does not wake it. */
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
	struct two t;

	two(&t);
	CHECK_WITHIN(waits_for_the_gate(&t), NOTIFIED_MS / 2);
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

/* A writer that waits for a writer does not stand at the gate: when it is
 * stopped, that is no reason to keep readers out. */
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
