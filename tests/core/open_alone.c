/* SPDX-License-Identifier: Apache-2.0 */
/* A client without threads is closed while another thread opens it, or is in
 * dlock_process(). */
#include "core/support.h"

#include <dlock/async.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "core/client.h"
#include "support/closed.h"
#include "support/outcome.h"

TestSuite(open_alone, .timeout = 60);

static atomic_int inside, go;

static int st_open(struct dlk_session *s, dlk_time deadline,
		   struct dlk_error *err)
{
	(void)s;
	(void)deadline;
	atomic_store(&inside, 1);
	while (!atomic_load(&go))
		nap_ms(1);
	return dlk_fail(err, DLOCK_EUNREACHABLE, "refused");
}

static const char *const schemes[] = { "gated", NULL };

/* A store that is opened when the case wants. */
static struct dlock_backend gated;

static dlock_client *client;

static void *processes(void *arg)
{
	int rc = dlock_process(client, 0);

	/* EBUSY: the thread that closes calls the callback. */
	cr_expect(rc >= 0 || rc == DLOCK_EBUSY, "%s", dlock_errname(rc));
	return arg;
}

static void *closes(void *arg)
{
	dlock_close(client);
	return arg;
}

PEEK(int, closing, c->closing)

static struct outcome opened, closed;
static pthread_t opener;

/* Has a thread open the client, and wait in the store. */
static void given_opener(const char *uri)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	stall_watch();
	gated = closed_backend(schemes);
	gated.caps = DLOCK_CAP_NO_THREADS;
	gated.open = st_open;
	cr_assert_eq(dlock_backend_register(&gated), 0);
	o.no_threads = 1;
	OK(dlock_open_start(uri, &o, &client, outcome_note, &opened));
	opener = thread_begin(processes, NULL);
	EVENTUALLY(inside);
}

CASE(open_alone, ends_when_another_thread_closes)
{
	pthread_t closer;
	int64_t begun_ms;

	given_opener("gated:");
	closer = thread_begin(closes, NULL);
	EVENTUALLY(closing(client));
	begun_ms = now_ms();
	atomic_store(&go, 1);
	pthread_join(opener, NULL);
	pthread_join(closer, NULL);
	cr_expect_lt(now_ms() - begun_ms, 2000 + stalled_ms());
	cr_assert_eq(opened.calls, 1);
	cr_assert_eq(opened.rc, DLOCK_ECANCELED);
}

/* The store refuses, and is asked again half a minute later. */
CASE(open_alone, ends_in_the_pause_between_two_attempts)
{
	int64_t begun_ms;

	atomic_store(&go, 1);
	given_opener("gated:?retry_min=30s&retry_max=30s&connect=60s");
	begun_ms = now_ms();
	OK(dlock_close_start(client, outcome_note, &closed));
	pthread_join(opener, NULL);
	cr_expect_lt(now_ms() - begun_ms, 2000 + stalled_ms());
	cr_assert_eq(opened.calls, 1);
	cr_assert_eq(opened.rc, DLOCK_ECANCELED);
	while (dlock_process(client, 1) > 0)
		continue;
	cr_assert_eq(closed.calls, 1);
}

/* ---- A thread in dlock_process() ----------------------------------------- */

TestSuite(process_alone, .timeout = 60);

static _Thread_local int is_held_up;

int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);

/* The last that dlock_process() does. */
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask)
{
	if (is_held_up) {
		atomic_store(&inside, 1);
		while (!atomic_load(&go))
			nap_ms(1);
	}
	return __real_ppoll(fds, n, timeout, mask);
}

static void *is_late(void *arg)
{
	is_held_up = 1;
	cr_expect_geq(dlock_process(client, 0), 0);
	is_held_up = 0;
	return arg;
}

CASE(process_alone, has_the_client_until_it_returns)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	pthread_t processor, closer;

	o.no_threads = 1;
	OK(dlock_open(&client, "mem:", &o));
	processor = thread_begin(is_late, NULL);
	EVENTUALLY(atomic_load(&inside));
	closer = thread_begin(closes, NULL);
	ALL_ALONG(100, pthread_tryjoin_np(closer, NULL) == EBUSY);
	atomic_store(&go, 1);
	pthread_join(processor, NULL);
	pthread_join(closer, NULL);
}
