/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds and who waits, and which locks there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/cases.h"
#include "conform/party.h"
#include "conform/seat.h"

enum { MOST = 16 };

struct parties {
	int n, holders, waiters;
	struct {
		char label[32], id[40];
		uint64_t token;
		int64_t remaining_ms;
		int shared, waiting;
	} v[MOST];
};

static void note(const struct dlock_party *party, void *arg)
{
	struct parties *all = arg;
	int i = all->n++;

	CHECK_INT(i, <, MOST);
	CHECK(party->size >= sizeof(*party));
	CHECK(party->label && party->id && party->id[0]);
	snprintf(all->v[i].label, sizeof(all->v[i].label), "%s", party->label);
	snprintf(all->v[i].id, sizeof(all->v[i].id), "%s", party->id);
	all->v[i].token = party->token;
	all->v[i].remaining_ms = party->remaining_ms;
	all->v[i].shared = party->shared;
	all->v[i].waiting = party->waiting;
	all->holders += !party->waiting;
	all->waiters += party->waiting;
	for (int k = 0; k < i; k++)
		CHECK(strcmp(all->v[k].id, all->v[i].id) != 0);
}

static struct parties seen(struct conform *t)
{
	struct parties all = { 0 };

	CHECK_OK(dlock_inspect(t->lock, note, &all, patience_ms()));
	return all;
}

static void has_label(const struct parties *all, int number)
{
	char label[32];

	snprintf(label, sizeof(label), "party %d", number);
	for (int i = 0; i < all->n; i++) {
		if (strcmp(all->v[i].label, label) == 0)
			return;
	}
	FAIL("%s is not among the %d that were reported", label, all->n);
}

/* A store without a line need not know who waits. */
static int tells_waiters(const struct conform *t, const struct parties *all)
{
	return t->caps & DLOCK_CAP_FAIR || all->waiters > 0;
}

void case_inspect_line(struct conform *t)
{
	struct party *p[4];
	struct parties all;
	struct reply first;
	int told;

	use_mutex(t);
	for (int i = 0; i < 4; i++)
		p[i] = join(t, OTHER_CLIENT);
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
	CHECK_INT(all.v[0].remaining_ms, <=, t->ttl_ms);
	for (int i = 0; i < all.n; i++) {
		char label[32];

		has_label(&all, p[i]->number);
		CHECK(!all.v[i].shared);
		CHECK(!all.v[i].waiting || all.v[i].token == 0);
		snprintf(label, sizeof(label), "party %d", p[i]->number);
		if (i == 0 || t->caps & DLOCK_CAP_FAIR)
			CHECK(strcmp(all.v[i].label, label) == 0);
	}
	for (int i = 3; i > 0; i--) {
		dlock_cancel(p[i]->seat->lock);
		CHECK_INT(hear(p[i]).rc, ==, DLOCK_ECANCELED);
		CHECK_INT(seen(t).n, ==, told ? i : 1);
	}
	ASK_OK(p[0], RELEASE, 0);
	CHECK_INT(seen(t).n, ==, 0);
}

void case_inspect_readers(struct conform *t)
{
	struct party *p[3], *writer;
	struct parties all;

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

void case_inspect_free(struct conform *t)
{
	use_mutex(t);
	CHECK_INT(seen(t).n, ==, 0);
	give(take(t->lock));
	CHECK_INT(seen(t).n, ==, 0);
}

void case_inspect_other_process(struct conform *t)
{
	struct parties all;
	struct party *p, *q;
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

static void unexpected(const struct dlock_party *party, void *arg)
{
	(void)arg;
	FAIL("reported %s", party->label);
}

void case_inspect_refused(struct conform *t)
{
	use_mutex(t);
	CHECK_RC(dlock_inspect(NULL, unexpected, NULL, 0), DLOCK_EINVAL);
	CHECK_RC(dlock_inspect(t->lock, NULL, NULL, 0), DLOCK_EINVAL);
	if (t->caps & DLOCK_CAP_INSPECT)
		return;
	CHECK_RC(dlock_inspect(t->lock, unexpected, NULL, 0), DLOCK_ENOTSUP);
}

/* ---- Which locks there are ----------------------------------------------- */

struct listed {
	const char *name;
	int n[3];
};

static void note_entry(const struct dlock_entry *e, void *arg)
{
	static const char *const kinds[] = { "mutex", "rwlock", "semaphore" };
	struct listed *l = arg;

	CHECK(e->size >= sizeof(*e));
	if (strcmp(e->name, l->name) != 0)
		return;
	for (int i = 0; i < 3; i++) {
		if (strcmp(e->kind, kinds[i]) != 0)
			continue;
		l->n[i]++;
		CHECK_INT(e->permits, ==, i == SEMAPHORE ? 7 : 0);
	}
}

/* Each kind is listed `times`. */
static void listed(dlock_client *c, struct listed *l, int times)
{
	memset(l->n, 0, sizeof(l->n));
	CHECK_OK(dlock_list(c, note_entry, l, patience_ms()));
	for (int i = 0; i < 3; i++)
		CHECK_INT(l->n[i], ==, times);
}

/* A client with another prefix does not see them. */
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

void case_list_refused(struct conform *t)
{
	struct listed all = { .name = "" };

	CHECK_RC(dlock_list(NULL, note_entry, &all, 0), DLOCK_EINVAL);
	CHECK_RC(dlock_list(t->client, NULL, NULL, 0), DLOCK_EINVAL);
	if (t->caps & DLOCK_CAP_LIST)
		return;
	CHECK_RC(dlock_list(t->client, note_entry, &all, 0), DLOCK_ENOTSUP);
}
