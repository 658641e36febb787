/* SPDX-License-Identifier: Apache-2.0 */
/* "dlock-loop", the common thread that waits for times and descriptors. */
#include "core/base/source.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/census.h"
#include "support/process.h"
#include "support/wait.h"

struct seen {
	struct dlki_source source;
	atomic_int calls, blocks, inside, left;
	dlk_time again; /* the source sets itself to so much later; 0: not */
};

static void on_ready(struct dlki_source *source)
{
	struct seen *s = (struct seen *)source;

	atomic_store(&s->inside, 1);
	while (atomic_load(&s->blocks))
		nap_ms(1);
	if (s->again)
		dlki_source_at(source, dlk_now() + s->again);
	atomic_fetch_add(&s->calls, 1);
	atomic_store(&s->inside, 0);
}

static void begin(struct seen *s)
{
	*s = (struct seen){ .again = 0 };
	s->source.ready = on_ready;
	cr_assert_eq(dlki_source_join(&s->source, NULL), 0);
}

static int loops(void)
{
	return census_threads("dlock-loop");
}

/* A source that is always due delays no other source. */
Test(source, that_is_due_again_lets_others_have_their_turn)
{
	struct seen busy, other;

	begin(&busy);
	begin(&other);
	busy.again = 1;
	dlki_source_at(&busy.source, dlk_now());
	EVENTUALLY(atomic_load(&busy.calls) > 3);
	dlki_source_at(&other.source, dlk_now());
	EVENTUALLY(atomic_load(&other.calls) == 1);
	dlki_source_leave(&busy.source);
	dlki_source_leave(&other.source);
}

static void *leave_main(void *arg)
{
	struct seen *s = arg;

	dlki_source_leave(&s->source);
	atomic_store(&s->left, 1);
	return NULL;
}

Test(source, that_leaves_waits_for_its_call)
{
	struct seen s, other;
	pthread_t thread;

	begin(&other); /* the thread goes on */
	begin(&s);
	atomic_store(&s.blocks, 1);
	dlki_source_at(&s.source, dlk_now());
	EVENTUALLY(atomic_load(&s.inside));
	cr_assert_eq(pthread_create(&thread, NULL, leave_main, &s), 0);
	ALL_ALONG(20, !atomic_load(&s.left));
	atomic_store(&s.blocks, 0);
	pthread_join(thread, NULL);
	cr_assert_eq(atomic_load(&s.calls), 1);
	dlki_source_leave(&other.source);
	cr_assert_eq(loops(), 0);
	/* A source that has left is not called. */
	dlki_source_at(&s.source, dlk_now());
	dlki_source_listen(&s.source, 1);
	dlki_source_leave(&s.source);
}

static int child(void)
{
	struct seen s;
	int64_t end = now_ms() + patience_ms();

	begin(&s);
	if (loops() != 1)
		return 1;
	dlki_source_at(&s.source, dlk_now());
	while (atomic_load(&s.calls) == 0) {
		if (now_ms() > end)
			return 2;
		nap_ms(1);
	}
	dlki_source_leave(&s.source);
	return loops() == 0 ? 0 : 3;
}

Test(source, of_a_forked_child_is_its_own)
{
	struct seen s;
	pid_t pid;

	/* A sanitizer's allocator does not survive a fork beside a thread that
	 * begins. */
	begin(&s);
	dlki_source_at(&s.source, dlk_now());
	EVENTUALLY(atomic_load(&s.calls) == 1);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		_exit(child());
	}
	cr_assert_eq(process_wait(pid, 2 * patience_ms()), 0);
	dlki_source_at(&s.source, dlk_now());
	EVENTUALLY(atomic_load(&s.calls) == 2);
	dlki_source_leave(&s.source);
}
