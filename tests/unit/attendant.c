/* SPDX-License-Identifier: Apache-2.0 */
/* The attendant of a client without threads. */
#include "core/base/attendant.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/census.h"
#include "support/wait.h"

struct seen {
	struct dlki_source source;
	atomic_int calls, blocks, inside;
};

static struct dlki_attendant *by;
static struct seen seen;
static int due_fd;
static struct census before;

static void on_ready(struct dlki_source *source)
{
	struct seen *s = (struct seen *)source;

	atomic_store(&s->inside, 1);
	while (atomic_load(&s->blocks))
		nap_ms(1);
	atomic_fetch_add(&s->calls, 1);
	atomic_store(&s->inside, 0);
}

static void setup(void)
{
	census_take(&before);
	due_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_geq(due_fd, 0);
	cr_assert_eq(dlki_attendant_new(&by, due_fd), 0);
	seen = (struct seen){ .source.ready = on_ready };
	cr_assert_eq(dlki_source_join(&seen.source, by), 0);
}

static void teardown(void)
{
	dlki_source_leave(&seen.source);
	dlki_attendant_free(by);
	close(due_fd);
	census_same(&before);
}

TestSuite(attendant, .init = setup, .fini = teardown);

/* What is due for callbacks is no work here. */
Test(attendant, only_the_outer_descriptor_tells_what_is_due)
{
	eventfd_write(due_fd, 1);
	cr_assert(is_readable(by->outer_fd, 0));
	cr_assert_not(is_readable(by->set_fd, 0));
}

/* ---- Two threads --------------------------------------------------------- */

static void *attend(void *arg)
{
	(void)arg;
	dlki_attend(by);
	return NULL;
}

static pthread_t attend_blocked(void)
{
	pthread_t thread;

	atomic_store(&seen.blocks, 1);
	dlki_source_at(&seen.source, dlk_now());
	cr_assert_eq(pthread_create(&thread, NULL, attend, NULL), 0);
	EVENTUALLY(seen.inside);
	return thread;
}

static void unblock(pthread_t thread)
{
	atomic_store(&seen.blocks, 0);
	pthread_join(thread, NULL);
}

static atomic_int returned;

static void *attend_unless_roused(void *until)
{
	dlki_attend_unless_roused(by, dlki_attendant_rouses(by),
				  *(dlk_time *)until);
	atomic_store(&returned, 1);
	return NULL;
}

Test(attendant, a_roused_thread_waits_for_no_other)
{
	pthread_t first = attend_blocked(), second;
	dlk_time until = DLK_FOREVER;

	cr_assert_eq(
		pthread_create(&second, NULL, attend_unless_roused, &until), 0);
	do {
		dlki_attendant_rouse(by);
		nap_ms(1);
	} while (!returned);
	pthread_join(second, NULL);
	cr_assert(seen.inside);
	unblock(first);
}

Test(attendant, a_thread_waits_for_another_until_a_time)
{
	pthread_t first = attend_blocked(), second;
	dlk_time until = dlk_now() + 20 * DLK_MS;

	cr_assert_eq(
		pthread_create(&second, NULL, attend_unless_roused, &until), 0);
	pthread_join(second, NULL);
	cr_assert(seen.inside);
	cr_assert_geq(dlk_now(), until);
	unblock(first);
}
