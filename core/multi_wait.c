/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi_wait.h"

#include "core/client.h"
#include "core/guard.h"
#include "core/multi.h"

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
