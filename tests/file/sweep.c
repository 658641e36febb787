/* SPDX-License-Identifier: Apache-2.0 */
/* The store removes the files of unused locks, and tokens and exclusion survive
 * the removal. */
#include "support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int there(const char *dir, const char *kind)
{
	return access(store_file(dir, kind, "x"), F_OK) == 0;
}

/* Acquire, release, and free the handle. */
static void use_up(dlock_lock *l)
{
	CHECK_OK(dlock_release(take(l, 0)));
	end_now(l);
}

/* Acquire and release with a new client, and return the token. */
static uint64_t use(const char *dir)
{
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *l = mutex(c, "x");
	uint64_t token = token_after(0, l);

	end_now(l);
	end_now(c);
	return token;
}

CASE(file_sweep, removes_what_a_client_leaves)
{
	const char *dir = store_dir();
	dlock_client *c;
	dlock_lock *l[2];

	use(dir);
	CHECK(!there(dir, "l"));
	c = store_open(dir, NULL);
	l[0] = rwlock(c, "x");
	l[1] = semaphore(c, "x", 3);
	CHECK_OK(dlock_release(take_shared(l[0], 0)));
	CHECK_OK(dlock_release(take(l[1], 0)));
	CHECK(there(dir, "l") && there(dir, "s"));
	end_now(l[0]);
	end_now(l[1]);
	end_now(c);
	CHECK(!there(dir, "l") && !there(dir, "s"));
}

static int files_in(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	CHECK(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

CASE(file_sweep, removes_names_that_were_not_used_for_long)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	char name[16];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		use_up(mutex(c, name));
	}
	CHECK_INT(files_in(dir), <, 40);
}

CASE(file_sweep, keeps_what_others_use)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *rw = rwlock(c, "x"), *s = semaphore(c, "x", 2), *l;
	dlock_hold *h = take_shared(rw, 0), *permit = take(s, 0);
	dlock_client *d = store_open(dir, NULL);

	l = rwlock(d, "x");
	CHECK_OK(dlock_release(take_shared(l, 0)));
	end_now(l);
	use_up(semaphore(d, "x", 2));
	end_now(d);
	CHECK(there(dir, "l") && there(dir, "s"));
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_check(permit));
	CHECK_OK(dlock_release(h));
	CHECK_OK(dlock_release(permit));
}

CASE(file_sweep, keeps_what_it_is_told_to)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, "keep_file=on");

	use_up(mutex(c, "x"));
	end_now(c);
	CHECK(there(dir, "l"));
	use(dir);
	CHECK(!there(dir, "l"));
}

/* ---- Tokens -------------------------------------------------------------- */

CASE(file_sweep, tokens_rise_when_the_clock_is_set_back)
{
	const char *dir = store_dir();
	uint64_t last = 0, token;

	for (int i = 0; i < 10; i++) {
		clock_back_s = i % 2 ? 3600 : 0;
		token = use(dir);
		CHECK(token > last);
		last = token;
		/* A file ahead of the clock stays. */
		CHECK(there(dir, "l") == i % 2);
	}
}

/* ---- In between ---------------------------------------------------------- */

static struct scene *the_scene; /* of this process */

static void say_and_nap(void)
{
	the_scene->ready = 1;
	nap_ms(the_scene->waits);
}

/* Use the lock whenever `held` is set. */
static void close_slowly(void *arg)
{
	struct scene *s = arg;

	the_scene = s;
	before_unlink = say_and_nap;
	for (;;) {
		EVENTUALLY(s->held || s->stop);
		if (s->stop)
			return;
		use(s->dir);
		s->held = 0;
	}
}

/* Let another process begin to remove the file, and take `ms` for the
 * removal. */
static void remove_slowly(struct scene *s, int ms)
{
	EVENTUALLY(!s->held);
	s->ready = 0;
	s->waits = ms;
	s->held = 1;
	EVENTUALLY(s->ready);
}

static void end_remover(struct scene *s, pid_t pid)
{
	EVENTUALLY(!s->held);
	s->stop = 1;
	child_ended(pid);
}

CASE(file_sweep, nobody_has_a_file_that_is_being_removed)
{
	struct scene *s = scene();
	pid_t pid = child(close_slowly, s);
	dlock_client *a = store_open(s->dir, NULL);
	dlock_client *b = store_open(s->dir, NULL);
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	dlock_hold *h, *none;

	remove_slowly(s, 300);
	h = take(la, FOREVER);
	end_remover(s, pid);
	CHECK_RC(dlock_acquire(lb, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
}

/* A try waits for a removal under way, instead of an answer of busy. */
CASE(file_sweep, a_removal_makes_nobody_busy)
{
	struct scene *s = scene();
	pid_t pid = child(close_slowly, s);
	dlock_client *a = store_open(s->dir, NULL);
	dlock_lock *m = mutex(a, "x"), *rw = rwlock(a, "x");
	int busy = 0;
	dlock_hold *h;

	for (int i = 0; i < 20; i++) {
		remove_slowly(s, 10);
		if ((i % 2 ? dlock_acquire(m, 0, &h) :
			     dlock_acquire_shared(rw, 0, &h)) == DLOCK_OK)
			CHECK_OK(dlock_release(h));
		else
			busy++;
	}
	end_remover(s, pid);
	CHECK_INT(busy, <=, 2); /* on a machine that stands still */
}

/* The break must not remove a file that an operator puts in the place. */
CASE(file_sweep, a_break_waits_for_a_removal)
{
	struct scene *s = scene();
	pid_t pid = child(close_slowly, s);
	dlock_client *a = store_open(s->dir, NULL);
	dlock_lock *l = mutex(a, "x");
	dlock_hold *h;

	remove_slowly(s, 300);
	CHECK_OK(dlock_break(l, patience_ms()));
	h = take(l, FOREVER);
	end_remover(s, pid);
	CHECK(there(s->dir, "l"));
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
}

/* A waiting break does not spin. */
CASE(file_sweep, that_never_ends_ends_a_break_at_its_deadline)
{
	struct scene *s = scene();
	pid_t pid = child(close_slowly, s);
	dlock_client *a = store_open(s->dir, NULL);
	dlock_lock *l = mutex(a, "x");
	int64_t began_ms;
	clock_t cpu;

	remove_slowly(s, 1000000);
	cpu = clock();
	began_ms = now_ms();
	CHECK_RC(dlock_break(l, 800), DLOCK_EBUSY);
	cpu = clock() - cpu;
	CHECK(now_ms() - began_ms >= 799);
	CHECK(strstr(dlock_errmsg(), "~floor' is locked"));
	CHECK_INT(cpu, <, CLOCKS_PER_SEC / 5);
	child_kill(pid);
}

/* A client unaware of the new file leaves the new file. */
CASE(file_sweep, leaves_a_file_that_took_its_place)
{
	const char *dir = store_dir();
	dlock_client *a, *b = store_open(dir, NULL);
	dlock_lock *la, *lb = mutex(b, "x");
	dlock_hold *h;

	fail_inotify = EMFILE;
	a = store_open(dir, NULL);
	la = mutex(a, "x");
	CHECK_OK(dlock_release(take(la, 0)));
	CHECK(unlink(store_file(dir, "l", "x")) == 0);
	h = take(lb, 0);
	end_now(la);
	end_now(a);
	CHECK(there(dir, "l"));
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_release(h));
}

static void die(void)
{
	raise(SIGKILL);
}

static void close_and_die(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = mutex(c, "x");

	s->token = token_after(s->token, l);
	end_now(l);
	*(s->waits == 1 ? &before_unlink : &after_unlink) = die;
	end_now(c);
}

/* The next clock is behind, so only the floor can tell of the token. */
CASE(file_sweep, is_survived_by_a_process_killed_in_it)
{
	struct scene *s = scene();
	uint64_t token;
	int status;
	pid_t pid;

	for (int i = 0; i < 10; i++) {
		s->waits = 1 + i % 2;
		pid = child(close_and_die, s);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		CHECK(there(s->dir, "l") == (s->waits == 1));
		clock_back_s = 3600;
		token = use(s->dir);
		CHECK(token > s->token);
		clock_back_s = 0;
		s->token = use(s->dir);
		CHECK(s->token > token);
		CHECK(!there(s->dir, "l"));
	}
}
