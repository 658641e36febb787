/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child has no part in the parent's locks. */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "support/process.h"

static pid_t forked(void)
{
	pid_t pid = fork();

	CHECK_INT(pid, >=, 0);
	return pid;
}

static void ended_well(pid_t pid)
{
	int code = process_wait(pid, patience_ms());

	if (code < 0) {
		kill(pid, SIGKILL);
		FAIL("the child hangs; if in a call of the store, a mutex was "
		     "locked at the fork: see pthread_atfork() in "
		     "writing-a-backend");
	}
	CHECK_INT(code, ==, 0);
}

static void no_participant(const struct dlock_participant *participant,
			   void *arg)
{
	(void)participant;
	(void)arg;
	FAIL("a participant was reported in the child");
}

/* The calls that would reach the store, or end the parent's holds.
 * tests/plain/forked.c makes every call. */
static void calls_in_child(struct conform *t, dlock_hold *h, dlock_hold *all)
{
	dlock_hold *none = NULL;

	CHECK_RC(dlock_check(h), DLOCK_EFORKED);
	CHECK_RC(dlock_acquire(t->lock, -1, &none), DLOCK_EFORKED);
	CHECK_TEXT(dlock_errmsg(), "fork");
	CHECK(!none);
	CHECK_RC(dlock_inspect(t->lock, no_participant, NULL, 0),
		 DLOCK_EFORKED);
	CHECK_RC(dlock_break(t->lock, 0), DLOCK_EFORKED);
	dlock_cancel(t->lock);
	CHECK_RC(dlock_release(all), DLOCK_EFORKED);
	CHECK_RC(dlock_release(h), DLOCK_EFORKED);
	CHECK_RC(dlock_release(h), DLOCK_EFORKED);
	dlock_lock_free(t->lock);
	dlock_close(t->client);
	dlock_close(t->client);
}

void case_fork_child_refused(struct conform *t)
{
	dlock_lock *second;
	dlock_hold *h, *all;
	pid_t pid;

	use_mutex(t);
	second = any_lock(t, t->client, MUTEX, 0, "conform/second");
	h = take(t->lock);
	all = take(multi(t, &second, 1));
	pid = forked();
	if (pid == 0) {
		calls_in_child(t, h, all);
		_exit(0);
	}
	ended_well(pid);
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_check(all));
	EACH_WAY(t, p)
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	give(all);
	give(h);
	is_free(t->lock);
}

/* As daemons and spawning programs do. */
static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

void case_fork_child_exits(struct conform *t)
{
	struct worker *p[2];
	dlock_hold *h;
	int n = 0;

	use_mutex(t);
	p[n++] = join(t, OTHER_CLIENT);
	if (!t->local)
		p[n++] = join(t, OTHER_PROCESS);
	h = take(t->lock);
	for (int way = 0; way < 3; way++) {
		pid_t pid = forked();

		if (pid == 0) {
			if (way == 1)
				close_all();
			if (way == 2)
				execl("/bin/true", "true", (char *)NULL);
			_exit(0);
		}
		ended_well(pid);
		CHECK_OK(dlock_check(h));
		for (int i = 0; i < n; i++)
			CHECK_INT(ask(p[i], ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	}
	give(h);
	for (int i = 0; i < n; i++) {
		ASK_OK(p[i], ACQUIRE, at_once_ms());
		ASK_OK(p[i], RELEASE, 0);
	}
}

/* The child's inherited memory and descriptors keep no lock held and no client
 * open. */
void case_fork_child_lives(struct conform *t)
{
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_hold *h, *second;
	dlock_lock *l;
	pid_t pid;

	use_mutex(t);
	l = any_lock(t, c, MUTEX, 0, "conform/second");
	h = take(t->lock);
	second = take(l);
	pid = forked();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	give(h);
	EACH_WAY(t, p)
	{
		ASK_OK(p, ACQUIRE, at_once_ms());
		ASK_OK(p, RELEASE, 0);
	}
	close_client(t, c);
	is_free(any_lock(t, t->client, MUTEX, 0, "conform/second"));
	CHECK_RC(dlock_release(second), DLOCK_ELOST);
	process_kill(pid);
}

static void needs_allocator_in_children(void)
{
	if (sanitized())
		check_skip("the sanitizer may hang in a forked child");
}

/* In the child: open a client, and acquire and release a lock. */
static void start_anew(struct conform *t, dlock_client **c)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_open(c, t->uri, NULL));
	CHECK_OK(dlock_mutex_new(&l, *c, "conform/child's own"));
	give(take(l));
	dlock_lock_free(l);
}

/* Meet the parent's lock. A store inside the process is a new, empty store in
 * the child. */
static void meet_parent(struct conform *t, dlock_client *c)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_mutex_new(&l, c, t->name));
	if (t->local)
		is_free(l);
	else
		refused(l);
	dlock_lock_free(l);
}

void case_fork_child_opens(struct conform *t)
{
	dlock_hold *h;

	needs_allocator_in_children();
	use_mutex(t);
	h = take(t->lock);
	for (int i = 0; i < 3; i++) {
		pid_t pid = forked();

		if (pid == 0) {
			dlock_client *c = NULL;

			start_anew(t, &c);
			meet_parent(t, c);
			dlock_close(c);
			_exit(0);
		}
		ended_well(pid);
	}
	CHECK_OK(dlock_check(h));
	give(h);
	is_free(t->lock);
}

/* Whatever mutex of the library is locked at the fork, the child must not wait
 * for the mutex. */
void case_fork_while_busy(struct conform *t)
{
	struct worker *p[3];
	dlock_lock *held;
	dlock_hold *h;

	needs_allocator_in_children();
	use_mutex(t);
	held = t->lock;
	h = take(held);
	t->lock = any_lock(t, t->client, MUTEX, 0, "conform/busy");
	p[0] = join(t, SAME_HANDLE);
	p[1] = join(t, SAME_HANDLE);
	t->lock = any_lock(t, another_client(t, NULL, NULL), MUTEX, 0,
			   "conform/busy");
	p[2] = join(t, SAME_HANDLE);
	for (int i = 0; i < 3; i++)
		tell(p[i], WORK, 300);
	while (quiet(p[0])) {
		pid_t pid = forked();

		if (pid == 0) {
			dlock_client *c = NULL;

			start_anew(t, &c);
			dlock_close(c);
			_exit(0);
		}
		ended_well(pid);
	}
	for (int i = 0; i < 3; i++)
		HEAR_OK(p[i]);
	give(h);
	is_free(held);
}
