/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: their numbers and their names. */
#include "core/base/process.h"

#include <pthread.h>

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

static void *waits(void *go)
{
	while (!atomic_load((atomic_int *)go))
		nap_ms(1);
	return NULL;
}

Test(process, gives_a_thread_as_much_of_a_name_as_fits)
{
	atomic_int go = 0;
	char name[20];
	pthread_t t;

	OK(dlk_thread(&t, "a name of far too many bytes", waits, &go));
	cr_assert_eq(pthread_getname_np(t, name, sizeof(name)), 0);
	atomic_store(&go, 1);
	pthread_join(t, NULL);
	cr_assert_str_eq(name, "a name of far t");
}
