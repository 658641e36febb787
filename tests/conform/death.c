/* SPDX-License-Identifier: Apache-2.0 */
/* Holders die, stop and go away. The lock comes free by the promised time, and
 * not before. */
#include <signal.h>
#include <sys/wait.h>

#include "conform/cases.h"
#include "conform/worker.h"

static struct worker *mortal(struct conform *t)
{
	return join_with(t, OTHER_PROCESS, SHORT_LEASE);
}

static void prepare_death(struct conform *t)
{
	needs_other_processes(t);
	use_short_lease(t);
}

/* Kill a holder while another worker waits, and return the waiter's time. */
static int64_t inherit(struct conform *t, enum op hold, struct reply *was,
		       struct reply *next)
{
	struct worker *victim = mortal(t);
	struct worker *heir = join(t, OTHER_CLIENT);
	int64_t begun;

	*was = ask(victim, hold, patience_ms());
	CHECK_INT(was->rc, ==, DLOCK_OK);
	tell(heir, ACQUIRE, -1);
	await_waiters(t, 1);
	begun = now_ms();
	bury(t, victim);
	*next = hear(heir);
	CHECK_INT(next->rc, ==, DLOCK_OK);
	begun = now_ms() - begun;
	leave(t, heir);
	return begun;
}

void case_death_of_holder(struct conform *t)
{
	struct reply was, next;

	prepare_death(t);
	use_mutex(t);
	CHECK_WITHIN(inherit(t, ACQUIRE, &was, &next), promised_ms(t));
	CHECK(next.token > was.token || was.token == 0);
	give(take(t->lock));
}

void case_death_of_reader(struct conform *t)
{
	struct reply was, next;

	prepare_death(t);
	use_rwlock(t);
	CHECK_WITHIN(inherit(t, READ, &was, &next), promised_ms(t));
}

void case_death_of_permit(struct conform *t)
{
	struct reply was, next;

	prepare_death(t);
	use_semaphore(t, 1);
	CHECK_WITHIN(inherit(t, ACQUIRE, &was, &next), promised_ms(t));
}

/* The grant passes over a waiter that died in the wait queue. */
static int64_t passed_over(struct conform *t)
{
	struct worker *victim = mortal(t);
	struct worker *behind = join(t, OTHER_CLIENT);
	dlock_hold *h = take(t->lock);
	int64_t begun;

	tell(victim, ACQUIRE, -1);
	await_waiters(t, 1);
	tell(behind, ACQUIRE, -1);
	await_waiters(t, 2);
	bury(t, victim);
	begun = now_ms();
	give(h);
	HEAR_OK(behind);
	begun = now_ms() - begun;
	leave(t, behind);
	return begun;
}

void case_death_of_waiter(struct conform *t)
{
	prepare_death(t);
	use_mutex(t);
	CHECK_WITHIN(passed_over(t), promised_ms(t));
}

/* A child forked by the holder is no holder, and no client waits before the
 * death. */
static int64_t orphaned(struct conform *t)
{
	struct worker *victim = mortal(t);
	int64_t begun;

	ASK_OK(victim, ACQUIRE, patience_ms());
	ASK_OK(victim, FORK, 0);
	refused(t->lock);
	bury(t, victim);
	begun = now_ms();
	give(take(t->lock));
	return now_ms() - begun;
}

void case_death_with_child(struct conform *t)
{
	prepare_death(t);
	use_mutex(t);
	CHECK_WITHIN(orphaned(t), promised_ms(t));
}

static void *take_and_end(void *lock)
{
	return take(lock);
}

/* The end of a thread releases no hold; the client's close does. */
void case_death_of_thread(struct conform *t)
{
	dlock_client *c = another_client(t, NULL, NULL);
	pthread_t thread;
	void *h;

	use_mutex(t);
	CHECK_INT(pthread_create(&thread, NULL, take_and_end, handle(t, c)), ==,
		  0);
	pthread_join(thread, &h);
	CHECK_OK(dlock_check(h));
	refused(t->lock);
	CHECK_RC(release(h), DLOCK_EINVAL);
	refused(t->lock);
	close_client(t, c);
	is_free(t->lock);
	CHECK_RC(release(h), DLOCK_ELOST);
}

static void pause_process(const struct worker *p)
{
	int status;

	CHECK_INT(kill(p->pid, SIGSTOP), ==, 0);
	CHECK_INT(waitpid(p->pid, &status, WUNTRACED), ==, p->pid);
	CHECK(WIFSTOPPED(status));
}

static int still_held(struct conform *t)
{
	refused(t->lock);
	return 1;
}

/* The client may have to reconnect first. */
static int hears_busy(struct worker *p)
{
	int rc = ask(p, ACQUIRE, 0).rc;

	CHECK(rc == DLOCK_EBUSY || rc == DLOCK_EUNREACHABLE);
	return rc == DLOCK_EBUSY;
}

/* A stopped holder loses the lease, and must know at once when the process goes
 * on. Without leases the holder keeps the lock. */
void case_pause_of_holder(struct conform *t)
{
	struct reply was;
	struct worker *p;
	dlock_hold *h;

	prepare_death(t);
	use_mutex(t);
	p = mortal(t);
	was = ask(p, ACQUIRE, patience_ms());
	CHECK_INT(was.rc, ==, DLOCK_OK);
	pause_process(p);
	tell(p, CHECK_HOLD, 0);
	if (t->ttl_ms > 0) {
		h = take(t->lock);
		CHECK(dlock_token(h) > was.token || was.token == 0);
		CHECK_INT(kill(p->pid, SIGCONT), ==, 0);
		CHECK_INT(hear(p).rc, ==, DLOCK_ELOST);
		CHECK_INT(ask(p, REMAINING, 0).count, ==, 0);
		EVENTUALLY(ask(p, LOSSES, 0).count == 1);
		CHECK_INT(ask(p, RELEASE, 0).rc, ==, DLOCK_ELOST);
		/* The late release must not release this hold. */
		CHECK_OK(dlock_check(h));
		EVENTUALLY(hears_busy(p));
		give(h);
	} else {
		ALL_ALONG(300, still_held(t));
		CHECK_INT(kill(p->pid, SIGCONT), ==, 0);
		HEAR_OK(p);
		ASK_OK(p, RELEASE, 0);
	}
	is_free(t->lock);
}

/* All other clients leave, and join again. */
void case_durable_hold(struct conform *t)
{
	struct worker *p;

	needs_other_processes(t);
	use_mutex(t);
	p = join(t, OTHER_PROCESS);
	ASK_OK(p, ACQUIRE, patience_ms());
	for (int i = 0; i < 3; i++) {
		close_client(t, t->client);
		t->client = another_client(t, NULL, NULL);
		refused(handle(t, t->client));
		ASK_OK(p, CHECK_HOLD, 0);
	}
	ASK_OK(p, RELEASE, 0);
	is_free(handle(t, t->client));
}
