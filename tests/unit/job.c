/* SPDX-License-Identifier: Apache-2.0 */
/* "dlock-work", a common thread that waits for stores, and another while the
 * thread is stuck. */
#include "core/base/job.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/census.h"
#include "support/wait.h"

struct work {
	struct dlki_job job;
	atomic_int pieces, blocks, inside, left;
	int more; /* pieces left */
};

static int on_run(struct dlki_job *job)
{
	struct work *w = (struct work *)job;

	cr_assert_eq(atomic_fetch_add(&w->inside, 1), 0, "a piece at a time");
	while (atomic_load(&w->blocks))
		nap_ms(1);
	atomic_fetch_sub(&w->inside, 1);
	atomic_fetch_add(&w->pieces, 1);
	return w->more-- > 0;
}

static void begin(struct work *w)
{
	*w = (struct work){ .blocks = 0 };
	w->job.run = on_run;
	cr_assert_eq(dlki_job_join(&w->job, NULL), 0);
}

static int workers(void)
{
	return census_threads("dlock-work");
}

/* There is another thread for each stuck thread, until no job waits. */
Test(job, that_is_stuck_delays_no_other)
{
	struct census before;
	struct work stuck[2], other;

	census_take(&before);
	for (int i = 0; i < 2; i++) {
		begin(&stuck[i]);
		atomic_store(&stuck[i].blocks, 1);
		dlki_job_post(&stuck[i].job);
		EVENTUALLY(atomic_load(&stuck[i].inside) == 1);
	}
	begin(&other);
	dlki_job_post(&other.job);
	EVENTUALLY(atomic_load(&other.pieces) > 0);
	cr_assert_leq(workers(), 3);
	for (int i = 0; i < 2; i++)
		atomic_store(&stuck[i].blocks, 0);
	EVENTUALLY(workers() == 1);
	for (int i = 0; i < 2; i++)
		dlki_job_leave(&stuck[i].job);
	dlki_job_leave(&other.job);
	census_same(&before);
}

Test(job, with_more_pieces_goes_on_beside_one_that_is_stuck)
{
	struct work first, stuck;

	begin(&first);
	begin(&stuck);
	atomic_store(&first.blocks, 1);
	atomic_store(&stuck.blocks, 1);
	first.more = 5;
	dlki_job_post(&first.job);
	EVENTUALLY(atomic_load(&first.inside) == 1);
	ALL_ALONG(30, atomic_load(&first.inside) == 1); /* looks are over */
	dlki_job_post(&stuck.job);
	atomic_store(&first.blocks, 0);
	EVENTUALLY(atomic_load(&first.pieces) == 6);
	cr_assert_eq(atomic_load(&stuck.inside), 1);
	atomic_store(&stuck.blocks, 0);
	dlki_job_leave(&first.job);
	dlki_job_leave(&stuck.job);
}

/* A thread woken for the first job still counts as asleep when the second is
 * posted. */
Test(job, may_be_posted_with_one_that_gets_stuck)
{
	struct work first, second;

	begin(&first);
	begin(&second);
	for (int i = 0; i < 20; i++) {
		int pieces = atomic_load(&second.pieces);

		nap_ms(1); /* mostly, the thread sleeps then */
		atomic_store(&first.blocks, 1);
		dlki_job_post(&first.job);
		dlki_job_post(&second.job);
		EVENTUALLY(atomic_load(&first.inside) == 1);
		EVENTUALLY(atomic_load(&second.pieces) > pieces);
		atomic_store(&first.blocks, 0);
		EVENTUALLY(atomic_load(&first.inside) == 0);
	}
	dlki_job_leave(&first.job);
	dlki_job_leave(&second.job);
}

Test(job, runs_at_the_time_that_was_set_last)
{
	struct work w;
	dlk_time at;

	begin(&w);
	dlki_job_at(&w.job, dlk_now() + 20 * DLK_MS);
	dlki_job_at(&w.job, DLK_FOREVER);
	ALL_ALONG(40, atomic_load(&w.pieces) == 0);
	at = dlk_now() + 20 * DLK_MS;
	dlki_job_at(&w.job, at);
	EVENTUALLY(atomic_load(&w.pieces) == 1);
	cr_assert_geq(dlk_now(), at);
	ALL_ALONG(20, atomic_load(&w.pieces) == 1);
	dlki_job_leave(&w.job);
}

static void *leave_main(void *arg)
{
	struct work *w = arg;

	dlki_job_leave(&w->job);
	atomic_store(&w->left, 1);
	return NULL;
}

Test(job, that_leaves_waits_for_its_piece)
{
	struct work w, other;
	pthread_t thread;

	begin(&other); /* the thread goes on */
	begin(&w);
	atomic_store(&w.blocks, 1);
	w.more = 5;
	dlki_job_post(&w.job);
	EVENTUALLY(atomic_load(&w.inside) == 1);
	cr_assert_eq(pthread_create(&thread, NULL, leave_main, &w), 0);
	EVENTUALLY(!atomic_load(&w.job.by)); /* the leave has begun */
	ALL_ALONG(20, !atomic_load(&w.left));
	atomic_store(&w.blocks, 0);
	pthread_join(thread, NULL);
	cr_assert_eq(atomic_load(&w.pieces), 1);
	dlki_job_post(&w.job);
	dlki_job_leave(&w.job);
	dlki_job_leave(&other.job);
}
