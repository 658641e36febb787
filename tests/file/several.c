/* SPDX-License-Identifier: Apache-2.0 */
/* Several permits at once. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "backends/file/bytes.h"

static int ask(dlock_lock *l, uint32_t permits, int64_t timeout_ms,
	       dlock_hold **out)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.permits = permits;
	o.timeout_ms = timeout_ms;
	return dlock_acquire_opts(l, &o, out);
}

static dlock_hold *take_several(dlock_lock *l, uint32_t permits,
				int64_t timeout_ms)
{
	dlock_hold *h = NULL;

	CHECK_OK(ask(l, permits, timeout_ms, &h));
	return h;
}

/* ---- Participants -------------------------------------------------------- */

struct census {
	uint32_t participants, most, sum;
};

static void count(const struct dlock_participant *p, void *arg)
{
	struct census *n = arg;

	n->participants++;
	n->sum += p->permits;
	if (p->permits > n->most)
		n->most = p->permits;
}

static struct census census(dlock_lock *l)
{
	struct census n = { 0 };

	CHECK_OK(dlock_inspect(l, count, &n, patience_ms()));
	return n;
}

/* A holder is a single participant, with or without a record for each
 * permit. */
CASE(file_several, a_holder_is_a_participant)
{
	dlock_client *c = store_open(store_dir(), NULL);
	dlock_lock *l = semaphore(c, "x", 2000);
	dlock_hold *one = take(l, 0), *few = take_several(l, 9, 0), *many;
	struct census n = census(l);

	CHECK_INT(n.participants, ==, 2);
	CHECK_INT(n.most, ==, 9);
	CHECK_INT(n.sum, ==, 10);
	many = take_several(l, 1200, 0);
	n = census(l);
	CHECK_INT(n.participants, ==, 3);
	CHECK_INT(n.most, ==, 1200);
	CHECK_INT(n.sum, ==, 1210);
	CHECK_RC(ask(l, 791, 0, &(dlock_hold *){ NULL }), DLOCK_EBUSY);
	CHECK_OK(dlock_release(few));
	few = take_several(l, 799, 0);
	CHECK_RC(dlock_acquire(l, 0, &(dlock_hold *){ NULL }), DLOCK_EBUSY);
	CHECK_INT(census(l).sum, ==, 2000);
	CHECK_OK(dlock_release(many));
	CHECK_INT(census(l).sum, ==, 800);
	CHECK_OK(dlock_release(few));
	CHECK_OK(dlock_release(one));
}

/* ---- The line ------------------------------------------------------------ */

static void wait_for_three(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 3);
	dlock_hold *h;

	EVENTUALLY(s->held);
	s->waits = 1;
	h = take_several(l, 3, FOREVER);
	s->granted = 1;
	while (!s->stop)
		nap_ms(1);
	CHECK_OK(dlock_release(h));
}

/* Let the child wait for three permits while this process holds a permit. */
static void have_it_wait(struct scene *s, dlock_lock *l)
{
	dlock_hold *h;

	s->held = 1;
	EVENTUALLY(s->waits);
	while (dlock_acquire(l, 0, &h) == DLOCK_OK) {
		CHECK_OK(dlock_release(h));
		nap_ms(1);
	}
}

CASE(file_several, death_ends_the_wait)
{
	struct scene *s = scene();
	pid_t pid = child(wait_for_three, s);
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 3);
	dlock_hold *h = take(l, 0), *h2;
	int64_t begin;

	have_it_wait(s, l);
	CHECK_RC(dlock_acquire(l, 20, &h2), DLOCK_EBUSY);
	child_kill(pid);
	begin = now_ms();
	h2 = take(l, patience_ms());
	CHECK_WITHIN(now_ms() - begin, 100 + slack_ms());
	CHECK_OK(dlock_release(h));
	CHECK_OK(dlock_release(h2));
}

/* A stopped waiter keeps other clients out while too few permits are free, and
 * for a second longer. Then the other clients pass together. */
CASE(file_several, others_pass_a_stopped_waiter)
{
	struct scene *s = scene();
	pid_t pid = child(wait_for_three, s);
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = semaphore(c, "x", 3), *m = semaphore(d, "x", 3);
	dlock_hold *h = take(l, 0), *h2;
	int64_t begin;

	have_it_wait(s, l);
	CHECK(kill(pid, SIGSTOP) == 0);
	CHECK_RC(dlock_acquire(m, 1200, &h2), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
	begin = now_ms();
	h = take(m, patience_ms());
	CHECK_INT(now_ms() - begin, >=, 900);
	h2 = take(l, 0);
	CHECK(kill(pid, SIGCONT) == 0);
	CHECK_OK(dlock_release(h));
	CHECK_RC(dlock_acquire(m, 0, &h), DLOCK_EBUSY);
	CHECK(!s->granted);
	CHECK_OK(dlock_release(h2));
	EVENTUALLY(s->granted);
	s->stop = 1;
	child_ended(pid);
}

/* Each request in the line has a second to take the permits, however long ago
 * an earlier request did. */
CASE(file_several, each_in_the_line_has_its_second)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *l = semaphore(c, "x", 2);
	struct taker t = { 0 };
	int64_t begin;
	int fd;

	CHECK_OK(dlock_release(take(l, 0)));
	fd = open(store_file(dir, "s", "x"), O_RDWR);
	CHECK(fd >= 0 && dlki_file_lock_run(fd, FILE_LINE, 2) == 1);
	begin = now_ms();
	taker_queue(&t, c, l, FOREVER);
	CHECK(dlki_file_lock_run(fd, FILE_HOLDERS, 2) == 1);
	dlki_file_unlock_run(fd, FILE_LINE, 2);
	EVENTUALLY(now_ms() - begin > 1200);
	CHECK(!t.done);
	begin = now_ms();
	CHECK(dlki_file_lock_run(fd, FILE_LINE, 2) == 1);
	dlki_file_unlock_run(fd, FILE_HOLDERS, 2);
	EVENTUALLY(t.done);
	CHECK_INT(t.done_ms - begin, >=, 900);
	close(fd);
	CHECK_OK(let_go(&t));
}
