/* SPDX-License-Identifier: Apache-2.0 */
#include "core/joint.h"

#include "core/client.h"
#include "core/error.h"

static int begin(struct dlki_joint *j, dlock_lock *lock, struct dlk_error *err)
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
		j->next = c->joints;
		j->link = &c->joints;
		if (j->next)
			j->next->link = &j->next;
		c->joints = j;
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

int dlki_joint_begin(struct dlki_joint v[], size_t n, dlock_lock *lock,
		     struct dlk_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = begin(&v[i], lock, err);

		if (rc != 0) {
			dlki_joint_end(v, i);
			return rc;
		}
	}
	return 0;
}

void dlki_joint_end(struct dlki_joint v[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dlki_joint *j = &v[i];
		struct dlock_client *c = j->client;

		pthread_mutex_lock(&c->mu);
		while (j->pinned)
			dlki_wait(&c->changed, &c->mu, DLK_FOREVER);
		*j->link = j->next;
		if (j->next)
			j->next->link = j->link;
		pthread_mutex_unlock(&c->mu);
	}
}

/* None begins any more, and one that is pinned keeps its place. */
void dlki_joint_cancel(struct dlock_client *c)
{
	for (struct dlki_joint *j = c->joints; j; j = j->next) {
		j->pinned = 1;
		pthread_mutex_unlock(&c->mu);
		dlock_cancel(j->lock);
		pthread_mutex_lock(&c->mu);
		j->pinned = 0;
		pthread_cond_broadcast(&c->changed);
	}
}
