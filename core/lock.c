/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lock.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/multi.h"

const char *dlki_kind_name(enum dlk_kind kind)
{
	static const char *const names[] = { "mutex", "rwlock", "semaphore" };

	return names[kind];
}

static int compare(const void *a, const void *b)
{
	const struct dlki_record *x = a;
	const struct dlki_record *y = b;

	return strcmp(x->key, y->key);
}

void dlki_record_unref(struct dlki_record *record)
{
	struct dlock_client *c = record->client;

	if (--record->refs > 0)
		return;
	tdelete(record, &c->records, compare);
	free(record);
	c->refs--;
}

static struct dlki_record *record_new(struct dlock_client *c,
				      enum dlk_kind kind, const char *name,
				      uint32_t limit)
{
	size_t size = strlen(name) + 1;
	struct dlki_record *record = calloc(1, sizeof(*record) + size);

	if (!record)
		return NULL;
	record->client = c;
	record->kind = kind;
	record->limit = limit;
	memcpy(record->name, name, size);
	dlki_name_key(kind, name, record->key);
	return record;
}

/* The client's record like `fresh`, which becomes it if there is none yet.
 * With mu held. */
static int intern(struct dlki_record **out, struct dlki_record *fresh,
		  struct dlk_error *err)
{
	struct dlock_client *c = fresh->client;
	struct dlki_record **node = tsearch(fresh, &c->records, compare);

	if (!node)
		return dlki_nomem(err);
	if (*node == fresh)
		c->refs++;
	else if ((*node)->limit != fresh->limit)
		return dlk_fail(err, DLOCK_EINVAL,
				"semaphore '%s' has %u permits here, not %u",
				fresh->name, (unsigned int)(*node)->limit,
				(unsigned int)fresh->limit);
	(*node)->refs++;
	*out = *node;
	return 0;
}

static int check(dlock_lock **out, const dlock_client *client,
		 enum dlk_kind kind, const char *name, uint32_t limit,
		 struct dlk_error *err)
{
	uint32_t need = kind == DLK_RWLOCK    ? DLOCK_CAP_SHARED :
			kind == DLK_SEMAPHORE ? DLOCK_CAP_COUNT :
						0;

	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	if (!client)
		return dlk_fail(err, DLOCK_EINVAL, "client is NULL");
	if (dlki_name_check(name, err) != 0)
		return err->code;
	if (kind == DLK_SEMAPHORE && limit == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"semaphore '%s': 0 permits; 1 is the least",
				name);
	if (dlki_client_ours(client, err) != 0)
		return err->code;
	if (need & ~client->session->caps)
		return dlk_fail(err, DLOCK_ENOTSUP, "%s: has no %ss",
				client->uri->scheme, dlki_kind_name(kind));
	return 0;
}

static int lock_new(dlock_lock **out, dlock_client *client, enum dlk_kind kind,
		    const char *name, uint32_t limit, struct dlk_error *err)
{
	struct dlki_record *fresh;
	dlock_lock *lock;
	int rc = check(out, client, kind, name, limit, err);

	if (rc != 0)
		return rc;
	lock = calloc(1, sizeof(*lock));
	fresh = record_new(client, kind, name, limit);
	if (!lock || !fresh) {
		free(lock);
		free(fresh);
		return dlki_nomem(err);
	}
	pthread_mutex_lock(&client->mu);
	rc = intern(&lock->record, fresh, err);
	pthread_mutex_unlock(&client->mu);
	if (lock->record != fresh)
		free(fresh);
	if (rc != 0) {
		free(lock);
		return rc;
	}
	*out = lock;
	return 0;
}

int dlki_lock_clone(dlock_lock **out, const dlock_lock *lock,
		    struct dlk_error *err)
{
	struct dlki_record *record = lock->record;
	dlock_lock *twin = calloc(1, sizeof(*twin));

	if (!twin)
		return dlki_nomem(err);
	twin->record = record;
	pthread_mutex_lock(&record->client->mu);
	record->refs++;
	pthread_mutex_unlock(&record->client->mu);
	*out = twin;
	return 0;
}

static int new_lock(dlock_lock **out, dlock_client *client, enum dlk_kind kind,
		    const char *name, uint32_t limit)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = lock_new(out, client, kind, name, limit, &err);

	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}

int dlock_mutex_new(dlock_lock **out, dlock_client *client, const char *name)
{
	return new_lock(out, client, DLK_MUTEX, name, 0);
}

int dlock_rwlock_new(dlock_lock **out, dlock_client *client, const char *name)
{
	return new_lock(out, client, DLK_RWLOCK, name, 0);
}

int dlock_semaphore_new(dlock_lock **out, dlock_client *client,
			const char *name, uint32_t permits)
{
	return new_lock(out, client, DLK_SEMAPHORE, name, permits);
}

void dlock_free(dlock_lock *lock)
{
	struct dlki_border border = dlki_enter();
	struct dlki_record *record = lock ? lock->record : NULL;

	if (lock && lock->multi)
		dlki_multi_free(lock->multi);
	/* In a forked child mu may be locked for ever; its memory is a copy. */
	if (record && dlki_client_ours(record->client, NULL) == 0) {
		struct dlock_client *c = record->client;

		pthread_mutex_lock(&c->mu);
		dlki_record_unref(record);
		dlki_client_unlock(c);
	}
	free(lock);
	dlki_leave(border);
}

void dlock_cancel(dlock_lock *lock)
{
	struct dlki_border border = dlki_enter();

	if (lock && lock->multi) {
		atomic_fetch_add(&lock->cancels, 1);
		dlki_multi_cancel(lock->multi);
	} else if (lock && dlki_client_ours(lock->record->client, NULL) == 0) {
		struct dlock_client *c = lock->record->client;

		atomic_fetch_add(&lock->cancels, 1);
		pthread_mutex_lock(&c->mu);
		for (struct dlki_claim *w = lock->waits; w; w = w->wait_next)
			pthread_cond_broadcast(&w->cond);
		pthread_mutex_unlock(&c->mu);
	}
	dlki_leave(border);
}
