/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/due.h"

#include <criterion/criterion.h>
#include <dlock/backend.h>
#include <poll.h>
#include <pthread.h>

static struct dlki_due due;

static void setup(void)
{
	dlki_due_init(&due);
	cr_assert_geq(dlki_due_fd(&due), 0);
}

static void teardown(void)
{
	dlki_due_destroy(&due);
}

static int is_told(void)
{
	struct pollfd p = { .fd = dlki_due_fd(&due), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

TestSuite(due, .init = setup, .fini = teardown);

Test(due, is_told_at_once_by_a_thread_with_other_waits)
{
	dlki_due_tell_soon(&due);
	cr_assert(is_told());
}

Test(due, is_told_before_the_next_wait_for_a_server)
{
	dlki_due_await();
	dlki_due_tell_soon(&due);
	cr_assert_not(is_told());
	dlki_due_await();
	cr_assert(is_told());
	(void)dlki_due_take(&due);
	dlki_due_await();
	cr_assert_not(is_told(), "told twice");
}

static void *sleep_a_moment(void *arg)
{
	static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond;

	(void)arg;
	dlk_cond_init(&cond);
	dlki_due_await();
	dlki_due_tell_soon(&due);
	cr_assert_not(is_told());
	pthread_mutex_lock(&mu);
	dlk_cond_wait(&cond, &mu, dlk_now() + DLK_MS);
	pthread_mutex_unlock(&mu);
	pthread_cond_destroy(&cond);
	return NULL;
}

Test(due, is_told_before_a_sleep)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, sleep_a_moment, NULL), 0);
	pthread_join(thread, NULL);
	cr_assert(is_told());
}
