/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads: fork, signals, cancellation, errno. */
#include "core/fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/process.h"

TestSuite(process, .init = fixture, .timeout = 60);

/* Every public call in a child: 0, or the number of the one that was wrong. */
static int call_all(dlock_client *c, dlock_lock *l, dlock_lock *multi,
		    dlock_hold *h, dlock_hold *all)
{
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_lock *lock = NULL, *members[] = { l };
	dlock_hold *hold = NULL;
	int told = 0;
	const int rc[] = {
		dlock_mutex_new(&lock, c, "a"),
		dlock_rwlock_new(&lock, c, "a"),
		dlock_semaphore_new(&lock, c, "a", 1),
		dlock_multi_new(&lock, members, 1),
		dlock_acquire(l, -1, &hold),
		dlock_acquire(multi, -1, &hold),
		dlock_release(h),
		dlock_release(all),
		dlock_check(h),
		dlock_check(all),
		dlock_hold_fd(h),
		dlock_hold_fd(all),
		dlock_inspect(l, count_participant, &told, -1),
		dlock_list(c, count_entry, &told, -1),
		dlock_break(l, -1),
		dlock_get_stats(c, &st),
	};
	int n = sizeof(rc) / sizeof(rc[0]);

	for (int i = 0; i < n; i++) {
		if (rc[i] != DLOCK_EFORKED)
			return 1 + i;
	}
	if (dlock_remaining_ms(h) != 0 || dlock_remaining_ms(all) != 0)
		return 100;
	dlock_cancel(l);
	dlock_cancel(multi);
	dlock_lock_free(multi);
	dlock_lock_free(l);
	dlock_close(c);
	return 0;
}

CASE(process, that_was_forked_is_told_so_by_every_call)
{
	dlock_lock *both;
	dlock_hold *all;
	int status;
	pid_t pid;

	given_hold("fake:?ttl=5s");
	both = multi(&lock, 1);
	all = take(both);
	/* Those that are there are not the child's either. */
	cr_assert_geq(dlock_hold_fd(hold), 0);
	cr_assert_geq(dlock_hold_fd(all), 0);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		_exit(call_all(client, lock, both, hold, all));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "call %d", WEXITSTATUS(status));
	OK(dlock_check(hold));
	OK(dlock_release(all));
	OK(dlock_release(hold));
}

/* A child may open a client of its own. */
CASE(process, that_was_forked_may_begin_anew)
{
	int status;
	pid_t pid;

	given_client("mem:");
	/* A sanitizer that is just starting a thread does not survive it. */
	nap_ms(50);
	pid = fork();
	if (pid == 0) {
		dlock_client *own = NULL;
		dlock_lock *l = NULL;
		dlock_hold *h = NULL;
		int rc;

		alarm(20);
		rc = dlock_open(&own, "mem:", NULL) ||
		     dlock_mutex_new(&l, own, "a") || dlock_acquire(l, 0, &h) ||
		     dlock_release(h);
		dlock_lock_free(l);
		dlock_close(own);
		_exit(rc != 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

Test(process, has_another_number_in_each_child)
{
	uint64_t mine = dlki_process(), theirs = 0;
	int fds[2], status;
	pid_t pid;

	cr_assert_neq(mine, 0);
	cr_assert_eq(dlki_process(), mine);
	cr_assert_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		theirs = dlki_process();
		_exit(write(fds[1], &theirs, sizeof(theirs)) != sizeof(theirs));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(read(fds[0], &theirs, sizeof(theirs)),
		     (ssize_t)sizeof(theirs));
	cr_assert_neq(theirs, mine);
	close(fds[0]);
	close(fds[1]);
}

static void *serial(void *arg)
{
	uint64_t *out = arg;

	out[0] = dlki_thread_serial();
	out[1] = dlki_thread_serial();
	return NULL;
}

/* Threads that follow each other may have the same pthread_t, and the same
 * thread id. */
Test(process, has_another_number_in_each_thread)
{
	uint64_t last = dlki_thread_serial();

	for (int i = 0; i < 50; i++) {
		uint64_t two[2];
		pthread_t t;

		cr_assert_eq(pthread_create(&t, NULL, serial, two), 0);
		pthread_join(t, NULL);
		cr_assert_eq(two[0], two[1]);
		cr_assert_gt(two[0], last);
		last = two[0];
	}
}

struct seen {
	sigset_t mask;
	char name[20];
};

static void *look(void *arg)
{
	struct seen *s = arg;

	pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
	/* The name is given from outside, a little later. */
	for (int i = 0; i < 5000; i++) {
		prctl(PR_GET_NAME, s->name);
		if (strncmp(s->name, "a name", 6) == 0)
			break;
		nap_ms(1);
	}
	return NULL;
}

Test(process, starts_threads_that_no_signal_reaches)
{
	struct seen s;
	pthread_t t;

	cr_assert_eq(dlk_thread(&t, "a name of far too many bytes", look, &s),
		     0);
	pthread_join(t, NULL);
	cr_assert_str_eq(s.name, "a name of far t");
	cr_assert(sigismember(&s.mask, SIGTERM));
	cr_assert(sigismember(&s.mask, SIGUSR1));
	pthread_sigmask(SIG_SETMASK, NULL, &s.mask);
	cr_assert_not(sigismember(&s.mask, SIGTERM));
}

struct victim {
	int rc;
	atomic_int past;
};

static void *victim_main(void *arg)
{
	struct victim *v = arg;
	dlock_hold *h = NULL;

	v->rc = dlock_acquire(lock, -1, &h);
	if (v->rc == DLOCK_OK)
		v->rc = dlock_release(h);
	atomic_store(&v->past, 1);
	pthread_testcancel();
	atomic_store(&v->past, 2);
	return NULL;
}

/* A cancelled thread finishes its call first, and leaves nothing locked. */
CASE(process, is_not_cancelled_within_a_call)
{
	struct victim v = { 0 };
	pthread_t t;
	void *result;

	given_mutex("fake:");
	fake_occupy(fake, DLK_LOCK, "a", 0);
	cr_assert_eq(pthread_create(&t, NULL, victim_main, &v), 0);
	EVENTUALLY(stats(client).waiters == 1);
	pthread_cancel(t);
	ALL_ALONG(30, !atomic_load(&v.past));
	fake_vacate(fake, DLK_LOCK, "a");
	pthread_join(t, &result);
	cr_assert_eq(result, PTHREAD_CANCELED);
	cr_assert_eq(atomic_load(&v.past), 1);
	OK(v.rc);
}

static void ignore(int sig)
{
	(void)sig;
}

struct shooter {
	pthread_t target;
	atomic_int stop;
};

static void *shoot(void *arg)
{
	struct shooter *s = arg;

	while (!atomic_load(&s->stop)) {
		pthread_kill(s->target, SIGUSR1);
		nap_ms(1);
	}
	return NULL;
}

CASE(process, keeps_deadlines_under_a_rain_of_signals)
{
	struct sigaction sa = { .sa_handler = ignore };
	struct shooter s = { .target = pthread_self() };
	pthread_t t;
	dlk_time began;

	given_mutex("fake:");
	stall_watch();
	cr_assert_eq(sigaction(SIGUSR1, &sa, NULL), 0);
	fake_occupy(fake, DLK_LOCK, "a", 0);
	cr_assert_eq(pthread_create(&t, NULL, shoot, &s), 0);
	began = dlk_now();
	cr_assert_eq(dlock_acquire(lock, 200, &hold), DLOCK_EBUSY);
	cr_assert_geq(dlk_now(), began + 200 * DLK_MS);
	cr_assert_lt(dlk_now(), late(began + 500 * DLK_MS));
	atomic_store(&s.stop, 1);
	pthread_join(t, NULL);
}

/* Without on_log nothing is said, and nothing goes wrong. */
CASE(process, logs_what_the_store_says)
{
	keep_diary();
	given_mutex("fake:");
	fake_once(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE);
	cr_assert(diary_says(&diary, "no answer (scripted)"));
	close_client();
	options = (dlock_options){ 0 };
	given_mutex("fake:");
	fake_once(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE);
}
