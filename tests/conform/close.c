/* SPDX-License-Identifier: Apache-2.0 */
/* Close a client in use. */
#include <poll.h>
#include <pthread.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "conform/executor.h"

void case_close_with_hold(struct conform *t)
{
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_lock *l, *second;
	dlock_hold *h, *again, *other, *none = NULL;
	struct pollfd p = { .events = POLLIN };

	use_mutex(t);
	l = handle(t, c);
	second = any_lock(t, c, MUTEX, 0, "conform/second");
	h = take(l);
	again = face_is_async() ? NULL : take(l);
	CHECK(!again || again == h);
	other = take(second);
	p.fd = dlock_hold_fd(h);
	close_client(t, c);
	is_free(t->lock);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_INT(dlock_remaining_ms(h), ==, 0);
	CHECK_INT(poll(&p, 1, 0), ==, 1);
	CHECK_RC(acquire(l, 0, &none), DLOCK_ECANCELED);
	CHECK_RC(release(h), DLOCK_ELOST);
	CHECK_TEXT(dlock_errmsg(), "the client was closed");
	if (again)
		CHECK_RC(release(again), DLOCK_ELOST);
	CHECK_RC(release(other), DLOCK_ELOST);
	CHECK(!none);
}

struct heir {
	pthread_t thread;
	dlock_lock *lock;
	const dlock_hold *hold;
	int rc, check;
};

/* Acquire, then check the other client's hold. */
static void *inherit(void *arg)
{
	struct heir *heir = arg;
	dlock_hold *own = NULL;

	heir->rc = acquire(heir->lock, patience_ms(), &own);
	heir->check = dlock_check(heir->hold);
	if (heir->rc == DLOCK_OK)
		heir->rc = release(own);
	return NULL;
}

/* At no time do two clients believe that they hold the lock. */
void case_close_hands_over(struct conform *t)
{
	use_mutex(t);
	for (int i = 0; i < 10; i++) {
		dlock_client *c = another_client(t, NULL, NULL);
		dlock_hold *h = take(handle(t, c));
		struct heir heir = { .lock = t->lock, .hold = h };

		CHECK_INT(pthread_create(&heir.thread, NULL, inherit, &heir),
			  ==, 0);
		await_waiters(t, 1);
		close_client(t, c);
		pthread_join(heir.thread, NULL);
		CHECK_RC(heir.rc, DLOCK_OK);
		CHECK_RC(heir.check, DLOCK_ELOST);
		CHECK_RC(release(h), DLOCK_ELOST);
	}
}

void case_close_with_waiter(struct conform *t)
{
	struct worker *p[3];
	int64_t begun;
	dlock_hold *h;

	use_mutex(t);
	p[0] = join(t, OTHER_CLIENT);
	/* Three waits of the same client. */
	for (int i = 1; i < 3; i++) {
		dlock_client *mine = t->client;
		dlock_lock *lock = t->lock;

		t->client = p[0]->client;
		t->lock = p[0]->executor->lock;
		p[i] = join(t, i == 1 ? SAME_HANDLE : OTHER_HANDLE);
		t->client = mine;
		t->lock = lock;
	}
	h = take(t->lock);
	for (int i = 0; i < 3; i++)
		tell(p[i], ACQUIRE, i == 2 ? patience_ms() : -1);
	await_waiters(t, 3);
	begun = now_ms();
	close_client(t, p[0]->client);
	p[0]->client = NULL;
	CHECK_INT(now_ms() - begun, <=, 2000 + 2 * slack_ms());
	for (int i = 0; i < 3; i++)
		CHECK_INT(hear(p[i]).rc, ==, DLOCK_ECANCELED);
	CHECK_INT(ask(p[0], ACQUIRE, 0).rc, ==, DLOCK_ECANCELED);
	CHECK_OK(dlock_check(h));
	give(h);
	is_free(t->lock);
}

void case_close_by_process(struct conform *t)
{
	struct worker *p;

	needs_other_processes(t);
	use_mutex(t);
	p = join(t, OTHER_PROCESS);
	ASK_OK(p, ACQUIRE, patience_ms());
	refused(t->lock);
	ASK_OK(p, CLOSE, 0);
	is_free(t->lock);
	CHECK_INT(ask(p, CHECK_HOLD, 0).rc, ==, DLOCK_ELOST);
	CHECK_INT(ask(p, RELEASE, 0).rc, ==, DLOCK_ELOST);
}
