/* SPDX-License-Identifier: Apache-2.0 */
/* Signals and thread cancellation. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "storm.h"

/* ---- A storm of signals -------------------------------------------------- */

static int64_t wait_in_vain(dlock_lock *lock)
{
	int64_t begun = now_ms();
	dlock_hold *h = NULL;

	CHECK_RC(acquire(lock, 200, &h), DLOCK_EBUSY);
	CHECK_INT(now_ms() - begun, >=, 199);
	return now_ms() - begun;
}

void case_signals_storm(struct conform *t)
{
	struct worker *p;
	dlock_hold *h;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	ASK_OK(p, ACQUIRE, at_once_ms());
	CHECK_INT(storm_start(1000), ==, 0);
	CHECK_WITHIN(wait_in_vain(t->lock), 200 + slack_ms());
	for (int i = 0; i < 10; i++) {
		ASK_OK(p, RELEASE, 0);
		h = take(t->lock);
		tell(p, ACQUIRE, -1);
		await_waiters(t, 1);
		give(h);
		HEAR_OK(p);
	}
	close_client(t, another_client(t, NULL, NULL));
	CHECK_INT(storm_stop(), >=, 20);
}

/* ---- The library's threads ----------------------------------------------- */

static unsigned long long blocked(const char *status)
{
	const char *at = strstr(status, "SigBlk:");

	CHECK(at);
	return strtoull(at + strlen("SigBlk:"), NULL, 16);
}

static int read_status(const char *tid, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Count the library's threads. Each blocks all signals that can be blocked. */
static int threads_of_dlock(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int n = 0;

	CHECK(dir);
	while ((e = readdir(dir))) {
		char text[4096];

		if (e->d_name[0] == '.' ||
		    !read_status(e->d_name, text, sizeof(text)) ||
		    strncmp(text, "Name:\tdlock", 11) != 0)
			continue;
		for (int sig = 1; sig < 32; sig++) {
			if (sig == SIGKILL || sig == SIGSTOP)
				continue;
			if (!(blocked(text) & 1ULL << (sig - 1)))
				FAIL("%.24s does not block signal %d", text,
				     sig);
		}
		n++;
	}
	closedir(dir);
	return n;
}

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)hold;
	(void)event;
	(void)why;
	(void)arg;
}

void case_signals_blocked(struct conform *t)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;
	sigset_t before, after;
	struct worker *p;
	dlock_hold *h;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	opts.on_event = on_event;
	another_client(t, NULL, &opts);
	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	h = take(t->lock);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	EVENTUALLY(threads_of_dlock() >= 3);
	give(h);
	HEAR_OK(p);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < 32; sig++)
		CHECK_INT(sigismember(&before, sig), ==,
			  sigismember(&after, sig));
}

/* ---- Thread cancellation ------------------------------------------------- */

struct cancelled {
	dlock_lock *lock;
	atomic_int rc;
};

static void *wait_to_be_cancelled(void *arg)
{
	struct cancelled *c = arg;
	dlock_hold *h = NULL;

	atomic_store(&c->rc, acquire(c->lock, 300, &h));
	pthread_testcancel();
	return NULL;
}

/* The call ends as usual; the cancellation takes effect after the call. */
void case_thread_cancelled(struct conform *t)
{
	struct cancelled c = { .rc = 1 };
	pthread_t thread;
	dlock_hold *h;
	void *end;

	use_mutex(t);
	c.lock = handle(t, another_client(t, NULL, NULL));
	h = take(t->lock);
	CHECK_INT(pthread_create(&thread, NULL, wait_to_be_cancelled, &c), ==,
		  0);
	await_waiters(t, 1);
	CHECK_INT(pthread_cancel(thread), ==, 0);
	CHECK_INT(pthread_join(thread, &end), ==, 0);
	CHECK(end == PTHREAD_CANCELED);
	CHECK_INT(c.rc, ==, DLOCK_EBUSY);
	give(h);
	is_free(c.lock);
	is_free(t->lock);
}
