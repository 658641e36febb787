/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stall.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "support/check.h"
#include "support/wait.h"

#define NAP_MS 5
#define NOTED_MS 10 /* usual on every busy machine */

static _Atomic int64_t due_ms; /* the time set for the wake-up */
static _Atomic int64_t total_ms;

static int64_t late_by(int64_t due)
{
	int64_t late = now_ms() - due;

	return late >= NOTED_MS ? late : 0;
}

static void *watch(void *arg)
{
	(void)arg;
	for (;;) {
		nap_ms(NAP_MS);
		atomic_fetch_add(&total_ms, late_by(atomic_load(&due_ms)));
		atomic_store(&due_ms, now_ms() + NAP_MS);
	}
	return NULL;
}

void stall_watch(void)
{
	sigset_t all, before;
	pthread_t thread;
	int rc;

	if (atomic_load(&due_ms))
		return;
	atomic_store(&due_ms, now_ms() + NAP_MS);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		FAIL("cannot start a thread");
	pthread_detach(thread);
}

/* A stall not noted by the thread counts as well, for the thread may be the
 * last to go on. A stall noted meanwhile counts twice, which does no harm. */
int64_t stalled_ms(void)
{
	int64_t due = atomic_load(&due_ms);

	return due ? late_by(due) + atomic_load(&total_ms) : 0;
}
