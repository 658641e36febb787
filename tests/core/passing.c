/* SPDX-License-Identifier: Apache-2.0 */
#include "core/passing.h"

dlock_client *others;
dlock_lock *theirs;

static void forget_others(void *unused)
{
	(void)unused;
	others = NULL;
	theirs = NULL;
}

void given_others(void)
{
	at_end(forget_others, &others);
	others = closed_at_end(open_store("fakewant:", NULL));
	theirs = rwlock(others, "a");
}

void wait_in(struct taker *t, dlock_lock *l, int64_t timeout_ms)
{
	uint64_t before = stats(client).waiters;

	t->linger = 1;
	taker_start(t, l, timeout_ms);
	EVENTUALLY(t->done || stats(client).waiters > before);
}

void wait_here(struct taker *t, int64_t timeout_ms)
{
	wait_in(t, lock, timeout_ms);
}

void n_wait_here(struct taker *t, int n)
{
	for (int i = 0; i < n; i++)
		wait_here(&t[i], FOREVER);
}

void others_wait(struct taker *t)
{
	taker_queue(t, others, theirs, FOREVER);
}

void has_it(struct taker *t)
{
	EVENTUALLY(t->done);
	cr_assert_eq(t->rc, DLOCK_OK, "%s", dlock_errname(t->rc));
}

void has_had_it(struct taker *t)
{
	has_it(t);
	OK(let_go(t));
	OK(t->release_rc);
}

uint64_t have_had_it(struct taker *t, int n, uint64_t token)
{
	for (int i = 0; i < n; i++) {
		has_it(&t[i]);
		cr_assert_gt(t[i].token, token);
		token = t[i].token;
		for (int k = i + 1; k < n; k++)
			cr_assert_eq(t[k].done, 0, "%d before %d", k, i);
		has_had_it(&t[i]);
	}
	return token;
}

size_t asked(void)
{
	return fake_count(fake, FAKE_ATTEMPT);
}

void nothing_is_left(void)
{
	EVENTUALLY(stats(client).pending_cleanups == 0 &&
		   stats(client).kept == 0 && stats(client).holds == 0);
	cr_assert_eq(fake_held(fake), 0);
}
