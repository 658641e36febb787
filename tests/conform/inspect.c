/* SPDX-License-Identifier: Apache-2.0 */
/* Holders and waiters of a lock, and the list of locks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conform/cases.h"
#include "conform/worker.h"
#include "conform/executor.h"

enum { MOST = 16 };

struct participants {
	int n, holders, waiters;
	struct {
		char label[32], id[40];
		uint64_t token;
		int64_t remaining_ms, since_ms;
		int shared, waiting;
	} v[MOST];
};

static void note_participant(const struct dlock_participant *participant,
			     void *arg)
{
	struct participants *all = arg;
	int i = all->n++;

	CHECK_INT(i, <, MOST);
	CHECK(participant->size >= sizeof(*participant));
	CHECK(participant->label && participant->id && participant->id[0]);
	snprintf(all->v[i].label, sizeof(all->v[i].label), "%s",
		 participant->label);
	snprintf(all->v[i].id, sizeof(all->v[i].id), "%s", participant->id);
	all->v[i].token = participant->token;
	all->v[i].remaining_ms = participant->remaining_ms;
	all->v[i].since_ms = participant->since_ms;
	all->v[i].shared = participant->shared;
	all->v[i].waiting = participant->waiting;
	all->holders += !participant->waiting;
	all->waiters += participant->waiting;
	for (int k = 0; k < i; k++)
		CHECK(strcmp(all->v[k].id, all->v[i].id) != 0);
}

static struct participants seen(struct conform *t)
{
	struct participants all = { 0 };

	CHECK_OK(dlock_inspect(t->lock, note_participant, &all, patience_ms()));
	return all;
}

static int64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The first participant got the lock after `begun_ms`, if the store knows. The
 * store's clock may lag by a tick of a slow ensemble. */
static void is_since(const struct participants *all, int64_t begun_ms)
{
	int64_t since_ms = all->v[0].since_ms;

	if (since_ms == 0)
		return;
	CHECK_INT(since_ms, >=, begun_ms - 2000);
	CHECK_INT(since_ms, <=, wall_ms() + 2000);
}

static void has_label(const struct participants *all, int number)
{
	char label[32];

	snprintf(label, sizeof(label), "worker %d", number);
	for (int i = 0; i < all->n; i++) {
		if (strcmp(all->v[i].label, label) == 0)
			return;
	}
	FAIL("%s is not among the %d that were reported", label, all->n);
}

/* A store without a wait queue need not know the waiters. */
static int tells_waiters(const struct conform *t,
			 const struct participants *all)
{
	return t->caps & DLOCK_CAP_FAIR || all->waiters > 0;
}

/* See at_once_ms(): a release may still be under way. */
static void is_seen_free(struct conform *t)
{
	if (at_once_ms() > 0)
		EVENTUALLY(seen(t).n == 0);
	CHECK_INT(seen(t).n, ==, 0);
}

void case_inspect_line(struct conform *t)
{
	struct worker *p[4];
	struct participants all;
	struct reply first;
	int64_t begun_ms;
	int told;

	use_mutex(t);
	for (int i = 0; i < 4; i++)
		p[i] = join(t, OTHER_CLIENT);
	begun_ms = wall_ms();
	first = ask(p[0], ACQUIRE, 0);
	for (int i = 1; i < 4; i++) {
		tell(p[i], ACQUIRE, -1);
		await_waiters(t, (unsigned int)i);
	}
	all = seen(t);
	told = tells_waiters(t, &all);
	CHECK_INT(all.n, ==, told ? 4 : 1);
	CHECK_INT(all.holders, ==, 1);
	CHECK(!all.v[0].waiting);
	CHECK(all.v[0].token == first.token);
	is_since(&all, begun_ms);
	CHECK_INT(all.v[0].remaining_ms, <=, t->ttl_ms);
	for (int i = 0; i < all.n; i++) {
		char label[32];

		has_label(&all, p[i]->number);
		CHECK(!all.v[i].shared);
		CHECK(!all.v[i].waiting || all.v[i].token == 0);
		CHECK(!all.v[i].waiting || all.v[i].since_ms == 0);
		snprintf(label, sizeof(label), "worker %d", p[i]->number);
		if (i == 0 || t->caps & DLOCK_CAP_FAIR)
			CHECK(strcmp(all.v[i].label, label) == 0);
	}
	for (int i = 3; i > 0; i--) {
		dlock_cancel(p[i]->executor->lock);
		CHECK_INT(hear(p[i]).rc, ==, DLOCK_ECANCELED);
		CHECK_INT(seen(t).n, ==, told ? i : 1);
	}
	ASK_OK(p[0], RELEASE, 0);
	is_seen_free(t);
}

void case_inspect_readers(struct conform *t)
{
	struct worker *p[3], *writer;
	struct participants all;

	use_rwlock(t);
	for (int i = 0; i < 3; i++) {
		p[i] = join(t, OTHER_CLIENT);
		ASK_OK(p[i], READ, 0);
	}
	writer = join(t, OTHER_CLIENT);
	tell(writer, ACQUIRE, -1);
	await_waiters(t, 1);
	all = seen(t);
	CHECK_INT(all.holders, ==, 3);
	CHECK_INT(all.waiters, ==, 1);
	for (int i = 0; i < 4; i++)
		CHECK_INT(all.v[i].shared, ==, !all.v[i].waiting);
	for (int i = 0; i < 3; i++) {
		has_label(&all, p[i]->number);
		leave(t, p[i]);
	}
	HEAR_OK(writer);
	all = seen(t);
	CHECK_INT(all.n, ==, 1);
	CHECK(!all.v[0].shared && !all.v[0].waiting);
}

void case_inspect_other_process(struct conform *t)
{
	struct participants all;
	struct worker *p, *q;
	struct reply r;

	needs_other_processes(t);
	use_mutex(t);
	p = join(t, OTHER_PROCESS);
	q = join(t, OTHER_PROCESS);
	r = ask(p, ACQUIRE, patience_ms());
	all = seen(t);
	CHECK_INT(all.n, ==, 1);
	has_label(&all, p->number);
	CHECK(all.v[0].token == r.token);
	tell(q, ACQUIRE, -1);
	await_waiters(t, 1);
	all = seen(t);
	CHECK_INT(all.holders, ==, 1);
	if (tells_waiters(t, &all)) {
		CHECK_INT(all.waiters, ==, 1);
		has_label(&all, q->number);
	}
	leave(t, p);
	HEAR_OK(q);
	bury(t, q);
	if (t->caps & DLOCK_CAP_EXPIRE && t->ttl_ms == 0)
		EVENTUALLY(seen(t).n == 0);
}

/* The message of a refused acquire names the holder. */
static void busy_names_the_holder(struct conform *t, enum op op)
{
	/* A store on a busy machine may not answer in 40 ms. */
	dlock_lock *l = handle(t, another_client(t, "ask=2s", NULL));
	struct worker *p = join(t, OTHER_CLIENT);
	dlock_hold *none = NULL;
	char text[48];

	ASK_OK(p, op, 0);
	snprintf(text, sizeof(text), "held by worker %d", p->number);
	CHECK_RC(acquire(l, 20, &none), DLOCK_EBUSY);
	CHECK_TEXT(face_errmsg(), text);
	CHECK_INT(seen(t).n, ==, 1);
}

void case_inspect_busy(struct conform *t)
{
	use_mutex(t);
	busy_names_the_holder(t, ACQUIRE);
}

void case_inspect_busy_readers(struct conform *t)
{
	use_rwlock(t);
	busy_names_the_holder(t, READ);
}

/* ---- Which locks there are ----------------------------------------------- */

struct listed {
	const char *name;
	int n[2];
};

static void note_entry(const struct dlock_lock_info *e, void *arg)
{
	static const char *const kinds[] = { "lock", "semaphore" };
	struct listed *l = arg;

	CHECK(e->size >= sizeof(*e));
	if (strcmp(e->name, l->name) != 0)
		return;
	for (int i = 0; i < 2; i++) {
		if (strcmp(e->kind, kinds[i]) != 0)
			continue;
		l->n[i]++;
		CHECK_INT(e->permits, ==, i == 1 ? 7 : 0);
	}
}

/* List the locks: each kind appears `times`. */
static void listed(dlock_client *c, struct listed *l, int times)
{
	memset(l->n, 0, sizeof(l->n));
	CHECK_OK(dlock_list(c, note_entry, l, patience_ms()));
	for (int i = 0; i < 2; i++)
		CHECK_INT(l->n[i], ==, times);
}

/* A client with another prefix sees no such locks. */
static void other_prefix(struct listed *l)
{
	char *uri = uri_with(getenv("CONFORM_URI"), "prefix=nobody-else");
	dlock_client *c = NULL;

	if (strstr(uri, "prefix=nobody-else")) {
		CHECK_OK(dlock_open(&c, uri, NULL));
		listed(c, l, 0);
		dlock_close(c);
	}
	free(uri);
}

void case_list_kinds(struct conform *t)
{
	static const char odd[] = "conform/list \xc3\xa9 %2f {}/..";
	struct listed all = { .name = odd };
	dlock_hold *h[3];

	/* The mutex and the read-write lock are the same lock. */
	for (int i = 0; i < 3; i++)
		h[i] = take(any_lock(t, t->client, (enum kind)i, 7, odd));
	for (int i = 0; i < 2; i++) {
		dlock_client *c = i ? another_client(t, NULL, NULL) : t->client;

		listed(c, &all, 1);
	}
	other_prefix(&all);
	for (int i = 0; i < 3; i++)
		give(h[i]);
	all.name = "conform/never used";
	listed(t->client, &all, 0);
}

/* The list has a lock once, however many holders there are. */
void case_list_once(struct conform *t)
{
	struct listed all = { .name = t->name };
	int kinds = t->caps & DLOCK_CAP_COUNT ? 2 : 1;
	dlock_hold *h[2][3];

	for (int i = 0; i < 3; i++) {
		dlock_client *c = another_client(t, NULL, NULL);

		h[0][i] = take_shared(any_lock(t, c, RWLOCK, 0, t->name));
		if (kinds > 1)
			h[1][i] = take(any_lock(t, c, SEMAPHORE, 7, t->name));
	}
	CHECK_OK(dlock_list(t->client, note_entry, &all, patience_ms()));
	for (int k = 0; k < kinds; k++) {
		CHECK_INT(all.n[k], ==, 1);
		for (int i = 0; i < 3; i++)
			give(h[k][i]);
	}
}
