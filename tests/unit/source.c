/* SPDX-License-Identifier: Apache-2.0 */
/* "dlock-loop", the common thread that waits for times and descriptors. */
#include "core/base/source.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/census.h"
#include "support/forked.h"
#include "support/wait.h"

enum { MANY = 10 };

struct seen {
	struct dlki_source source;
	atomic_int calls, blocks, inside, left;
	_Atomic dlk_time at;
	dlk_time again; /* the source sets itself to so much later; 0: not */
	int fd;         /* read in the call; -1: none */
};

static void on_ready(struct dlki_source *source)
{
	struct seen *s = (struct seen *)source;
	eventfd_t ignored;

	atomic_store(&s->inside, 1);
	while (atomic_load(&s->blocks))
		nap_ms(1);
	if (s->fd >= 0)
		(void)eventfd_read(s->fd, &ignored);
	if (s->again)
		dlki_source_at(source, dlk_now() + s->again);
	atomic_store(&s->at, dlk_now());
	atomic_fetch_add(&s->calls, 1);
	atomic_store(&s->inside, 0);
}

static void begin(struct seen *s)
{
	*s = (struct seen){ .fd = -1 };
	s->source.ready = on_ready;
	cr_assert_eq(dlki_source_join(&s->source, NULL), 0);
}

static int loops(void)
{
	return census_threads("dlock-loop");
}

static void begin_with_fd(struct seen *s)
{
	begin(s);
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_geq(s->fd, 0);
	cr_assert_eq(dlki_source_set_fd(&s->source, s->fd), 0);
}

static void end_with_fd(struct seen *s)
{
	dlki_source_leave(&s->source);
	close(s->fd);
}

Test(source, is_called_at_the_time_and_forgets_it)
{
	struct seen s;
	dlk_time at;

	begin(&s);
	at = dlk_now() + 30 * DLK_MS;
	dlki_source_at(&s.source, DLK_FOREVER);
	dlki_source_at(&s.source, at + 3600000 * DLK_MS);
	dlki_source_at(&s.source, at);
	EVENTUALLY(atomic_load(&s.calls) == 1);
	cr_assert_geq(atomic_load(&s.at), at);
	ALL_ALONG(50, atomic_load(&s.calls) == 1);
	dlki_source_leave(&s.source);
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

Test(source, is_called_for_a_descriptor_that_is_on)
{
	struct seen s;

	begin_with_fd(&s);
	eventfd_write(s.fd, 1);
	ALL_ALONG(20, atomic_load(&s.calls) == 0);
	/* A write from before the listen is seen. */
	dlki_source_listen(&s.source, 1);
	EVENTUALLY(atomic_load(&s.calls) == 1);
	eventfd_write(s.fd, 1);
	EVENTUALLY(atomic_load(&s.calls) == 2);
	dlki_source_listen(&s.source, 0);
	eventfd_write(s.fd, 1);
	ALL_ALONG(20, atomic_load(&s.calls) == 2);
	end_with_fd(&s);
}

Test(source, may_have_another_descriptor)
{
	struct seen s;
	int former;

	begin_with_fd(&s);
	dlki_source_listen(&s.source, 1);
	former = s.fd;
	s.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_eq(dlki_source_set_fd(&s.source, s.fd), 0);
	eventfd_write(former, 1);
	ALL_ALONG(20, atomic_load(&s.calls) == 0);
	close(former);
	dlki_source_listen(&s.source, 1);
	eventfd_write(s.fd, 1);
	EVENTUALLY(atomic_load(&s.calls) == 1);
	cr_assert_neq(dlki_source_set_fd(&s.source, 1 << 20), 0);
	cr_assert_eq(dlki_source_set_fd(&s.source, -1), 0);
	end_with_fd(&s);
}

Test(source, have_one_thread_which_ends_with_the_last)
{
	struct census before;
	struct seen s[MANY];

	census_take(&before);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < MANY; i++)
			begin(&s[i]);
		cr_assert_eq(loops(), 1);
		for (int i = 0; i < MANY; i++) {
			cr_assert_eq(loops(), 1);
			dlki_source_leave(&s[i].source);
		}
		cr_assert_eq(loops(), 0);
	}
	census_same(&before);
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

	/* A sanitizer's allocator does not survive a fork beside a thread that
	 * begins. */
	begin(&s);
	dlki_source_at(&s.source, dlk_now());
	EVENTUALLY(atomic_load(&s.calls) == 1);
	cr_assert_eq(in_forked_child(child), 0);
	dlki_source_at(&s.source, dlk_now());
	EVENTUALLY(atomic_load(&s.calls) == 2);
	dlki_source_leave(&s.source);
}
