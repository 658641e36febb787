/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/guard.h"

/* By name first: a name is the same for all clients, while a store may be known
 * by several URIs. */
static int compare_members(const void *a, const void *b)
{
	const struct dlki_record *x =
		((const struct dlki_member *)a)->lock->record;
	const struct dlki_record *y =
		((const struct dlki_member *)b)->lock->record;
	int order = strcmp(dlki_record_key(x), dlki_record_key(y));

	return order != 0 ?
		       order :
		       strcmp(x->client->uri->shown, y->client->uri->shown);
}

static int check_members(dlock_lock **out, dlock_lock *const members[],
			 size_t count, struct dlk_error *err)
{
	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	if (!members || count == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"a multi-lock needs at least one member");
	if (count > 65536)
		return dlk_fail(err, DLOCK_EINVAL,
				"%zu members; a multi-lock "
				"has at most 65536",
				count);
	for (size_t i = 0; i < count; i++) {
		if (!members[i])
			return dlk_fail(err, DLOCK_EINVAL, "member %zu is NULL",
					i);
		if (dlki_lock_is_multi(members[i]))
			return dlk_fail(err, DLOCK_EINVAL,
					"member %zu is a "
					"multi-lock; name its members instead",
					i);
		if (dlki_client_ours(members[i]->record->client, err) != 0)
			return err->code;
	}
	return 0;
}

void dlki_multi_free(struct dlki_multi *multi)
{
	for (size_t i = 0; i < multi->n; i++)
		dlki_lock_free(multi->member[i].lock);
	free(multi->clients);
	free(multi);
}

static int compare_addresses(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (struct dlock_client *const *)a;
	uintptr_t y = (uintptr_t) * (struct dlock_client *const *)b;

	return (x > y) - (x < y);
}

static int list_clients(struct dlki_multi *multi, struct dlk_error *err)
{
	struct dlock_client **v = calloc(multi->n, sizeof(v[0]));

	if (!v)
		return dlki_nomem(err);
	multi->clients = v;
	for (size_t i = 0; i < multi->n; i++)
		v[i] = multi->member[i].lock->record->client;
	qsort(v, multi->n, sizeof(v[0]), compare_addresses);
	for (size_t i = 0; i < multi->n; i++) {
		if (i == 0 || v[i] != v[multi->n_clients - 1])
			v[multi->n_clients++] = v[i];
	}
	return 0;
}

static int clone_members(struct dlki_multi *multi, dlock_lock *const members[],
			 size_t count, struct dlk_error *err)
{
	for (size_t i = 0; i < count; i++) {
		int rc = dlki_lock_clone(&multi->member[i].lock, members[i],
					 err);

		if (rc != 0)
			return rc;
		multi->member[i].place = i;
		multi->n++;
	}
	qsort(multi->member, count, sizeof(multi->member[0]), compare_members);
	for (size_t i = 1; i < count; i++) {
		const struct dlki_record *r = multi->member[i].lock->record;

		if (compare_members(&multi->member[i - 1], &multi->member[i]) ==
		    0)
			return dlk_fail(err, DLOCK_EINVAL,
					"%s '%s' is a member twice",
					dlki_kind_name(r->kind), r->name);
	}
	return list_clients(multi, err);
}

int dlki_multi_new(dlock_lock **out, dlock_lock *const members[], size_t count,
		   struct dlk_error *err)
{
	struct dlki_multi *multi;
	dlock_lock *lock;
	int rc = check_members(out, members, count, err);

	if (rc != 0)
		return rc;
	lock = calloc(1, sizeof(*lock));
	multi = calloc(1, sizeof(*multi) + count * sizeof(multi->member[0]));
	if (!lock || !multi) {
		free(lock);
		free(multi);
		return dlki_nomem(err);
	}
	rc = clone_members(multi, members, count, err);
	if (rc != 0) {
		dlki_multi_free(multi);
		free(lock);
		return rc;
	}
	lock->multi = multi;
	*out = lock;
	return 0;
}

int dlock_multi_new(dlock_lock **out, dlock_lock *const members[], size_t count)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, dlki_multi_new(out, members, count, &s.err));
}

dlock_lock *dlki_multi_lock(const struct dlki_multi *multi, size_t place)
{
	const struct dlki_member *member = multi->member;

	while (member->place != place)
		member++;
	return member->lock;
}

void dlki_multi_cancel(dlock_lock *lock)
{
	const struct dlki_multi *multi = lock->multi;

	atomic_fetch_add(&lock->cancels, 1);
	for (size_t i = 0; i < multi->n; i++)
		dlki_lock_cancel(multi->member[i].lock);
}

/* ---- Waits that concern several clients ---------------------------------- */

static int join_client(struct dlki_multi_wait *j, dlock_lock *lock,
		       struct dlk_error *err)
{
	struct dlock_client *c = j->client;
	int rc = dlki_client_ours(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	if (c->closing) {
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	} else {
		j->lock = lock;
		LIST_INSERT_HEAD(&c->waits, j, in_waits);
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

int dlki_multi_wait_begin(struct dlki_multi_wait v[], size_t n,
			  dlock_lock *lock, struct dlk_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = join_client(&v[i], lock, err);

		if (rc != 0) {
			dlki_multi_wait_end(v, i);
			return rc;
		}
	}
	return 0;
}

void dlki_multi_wait_end(struct dlki_multi_wait v[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dlki_multi_wait *j = &v[i];
		struct dlock_client *c = j->client;

		pthread_mutex_lock(&c->mu);
		while (j->pinned)
			dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
		LIST_REMOVE(j, in_waits);
		pthread_mutex_unlock(&c->mu);
	}
}

/* The client is closing, so no wait begins; a pinned wait keeps its place. */
void dlki_multi_wait_cancel(struct dlock_client *c)
{
	struct dlki_multi_wait *j;

	LIST_FOREACH(j, &c->waits, in_waits) {
		j->pinned = 1;
		pthread_mutex_unlock(&c->mu);
		dlki_multi_cancel(j->lock);
		pthread_mutex_lock(&c->mu);
		j->pinned = 0;
		pthread_cond_broadcast(&c->changed);
	}
}
