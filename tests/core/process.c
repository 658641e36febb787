/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: their numbers, their names and their signals. */
#include "core/base/process.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/support.h"

static void *serial(void *arg)
{
	uint64_t *out = arg;

	out[0] = dlki_thread_serial();
	out[1] = dlki_thread_serial();
	return NULL;
}

/* A later thread may have the same pthread_t and the same thread id. */
Test(process, has_another_number_in_each_thread)
{
	uint64_t last = dlki_thread_serial();

	for (int i = 0; i < 50; i++) {
		uint64_t two[2];
		pthread_t t;

		t = thread_begin(serial, two);
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
	/* The name comes from outside, a little later. */
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
