/* SPDX-License-Identifier: Apache-2.0 */
/* The fencing token rises with each later conflicting hold. */
#include "conform/cases.h"
#include "conform/worker.h"

static uint64_t taken(dlock_lock *lock)
{
	dlock_hold *h = take(lock);
	uint64_t token = dlock_token(h);

	CHECK(token > 0);
	give(h);
	return token;
}

void case_token_rises(struct conform *t)
{
	uint64_t last;

	use_mutex(t);
	last = taken(t->lock);
	for (int round = 0; round < 3; round++) {
		EACH_WAY(t, p)
		{
			for (int i = 0; i < 5; i++) {
				struct reply r = ask(p, ACQUIRE, patience_ms());

				CHECK_INT(r.rc, ==, DLOCK_OK);
				CHECK(r.token > last);
				ASK_OK(p, RELEASE, 0);
				last = taken(t->lock);
				CHECK(last > r.token);
			}
		}
	}
}

void case_token_readers(struct conform *t)
{
	uint64_t writer;

	use_rwlock(t);
	writer = taken(t->lock);
	EACH_WAY(t, p)
	{
		dlock_hold *h = take_shared(t->lock);
		uint64_t mine = dlock_token(h);
		struct reply r = ask(p, READ, patience_ms());

		CHECK_INT(r.rc, ==, DLOCK_OK);
		CHECK(mine > writer && r.token > writer);
		give(h);
		ASK_OK(p, RELEASE, 0);
		writer = taken(t->lock);
		CHECK(writer > mine && writer > r.token);
		r = ask(p, ACQUIRE, patience_ms());
		CHECK(r.token > writer);
		ASK_OK(p, RELEASE, 0);
		writer = r.token;
	}
}

/* Holds of a single permit conflict. */
void case_token_permit(struct conform *t)
{
	uint64_t last = 0;

	use_semaphore(t, 1);
	EACH_WAY(t, p)
	{
		struct reply r = ask(p, ACQUIRE, patience_ms());

		CHECK(r.token > last);
		ASK_OK(p, RELEASE, 0);
		last = taken(t->lock);
		CHECK(last > r.token);
	}
}

static uint64_t forgotten(struct conform *t)
{
	dlock_lock *l = NULL;
	uint64_t token;

	t->client = another_client(t, NULL, NULL);
	CHECK_OK(dlock_mutex_new(&l, t->client, t->name));
	face_knows(l, t->client, NULL);
	token = taken(l);
	dlock_lock_free(l);
	close_client(t, t->client);
	return token;
}

/* Only the store remembers the lock; no client does. */
void case_token_reopen(struct conform *t)
{
	uint64_t last = 0;

	close_client(t, t->client);
	for (int i = 0; i < 10; i++) {
		uint64_t token = forgotten(t);

		CHECK(token > last);
		last = token;
	}
}

/* No process that has used the store is left. */
void case_token_durable(struct conform *t)
{
	uint64_t last = 0;

	needs_other_processes(t);
	use_mutex(t);
	dlock_lock_free(t->lock);
	t->n_locks = 0;
	close_client(t, t->client);
	for (int i = 0; i < 5; i++) {
		struct worker *p = join_with(t, OTHER_PROCESS, SHORT_LEASE);
		struct reply r = ask(p, ACQUIRE, patience_ms());

		CHECK_INT(r.rc, ==, DLOCK_OK);
		CHECK(r.token > last);
		last = r.token;
		if (i % 2) {
			ASK_OK(p, RELEASE, 0);
			leave(t, p);
		} else {
			bury(t, p);
		}
	}
}

void case_token_zero(struct conform *t)
{
	dlock_hold *h;

	use_mutex(t);
	h = take(t->lock);
	CHECK_INT(dlock_token(h) != 0, ==, (t->caps & DLOCK_CAP_FENCE) != 0);
	CHECK_INT(dlock_token(h) >> 63, ==, 0);
	give(h);
	CHECK(dlock_token(NULL) == 0);
}
