/* SPDX-License-Identifier: Apache-2.0 */
/* A client without threads is closed while another thread is in
 * dlock_process(). */
#include "core/support.h"

#include <dlock/async.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

TestSuite(process_alone, .timeout = 60);

static dlock_client *client;
static _Thread_local int is_held_up;
static atomic_int inside, go, closed;

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

static void *processes(void *arg)
{
	is_held_up = 1;
	cr_expect_geq(dlock_process(client, 0), 0);
	is_held_up = 0;
	return arg;
}

static void *closes(void *arg)
{
	dlock_close(client);
	atomic_store(&closed, 1);
	return arg;
}

CASE(process_alone, has_the_client_until_it_returns)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	pthread_t processor, closer;

	o.no_threads = 1;
	OK(dlock_open(&client, "mem:", &o));
	processor = thread_begin(processes, NULL);
	EVENTUALLY(atomic_load(&inside));
	closer = thread_begin(closes, NULL);
	ALL_ALONG(100, !atomic_load(&closed));
	atomic_store(&go, 1);
	pthread_join(processor, NULL);
	pthread_join(closer, NULL);
}
