/* SPDX-License-Identifier: Apache-2.0 */
#include "core/deliver.h"

#include <dlock/backend_net.h>
#include <errno.h>

#include "core/base/common.h"

struct dlki_deliverer {
	struct dlki_common base;

	/* Under its mutex, a leaf but for the clients' and their logs'. */
	pthread_cond_t more; /* the thread sleeps here */
	int asleep;
	TAILQ_HEAD(, dlki_delivery) queue;
	struct dlki_delivery *calling;
};

static struct dlki_common *_Atomic current;

/* ---- With the mutex held ------------------------------------------------- */

static void enqueue(struct dlki_deliverer *by, struct dlki_delivery *d)
{
	if (TAILQ_EMPTY(&by->queue))
		TAILQ_INIT(&by->queue);
	TAILQ_INSERT_TAIL(&by->queue, d, in_queue);
}

static void rouse(struct dlki_common *base)
{
	pthread_cond_signal(&((struct dlki_deliverer *)base)->more);
}

/* ---- The thread ---------------------------------------------------------- */

static void call_first(struct dlki_deliverer *by)
{
	struct dlki_delivery *d = TAILQ_FIRST(&by->queue);
	int more;

	TAILQ_REMOVE(&by->queue, d, in_queue);
	d->posted = 0;
	by->calling = d;
	pthread_mutex_unlock(&by->base.mu);
	more = d->call(d);
	pthread_mutex_lock(&by->base.mu);
	by->calling = NULL;
	if (atomic_load(&d->by) && (more || d->posted)) {
		d->posted = 1;
		enqueue(by, d);
	}
	pthread_cond_broadcast(&by->base.changed);
}

static void *deliverer_main(void *arg)
{
	struct dlki_deliverer *by = arg;
	int state;

	/* A program's mistake with a client must not harm the others. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&by->base.mu);
	while (!by->base.stop) {
		if (!TAILQ_EMPTY(&by->queue)) {
			call_first(by);
			continue;
		}
		by->asleep = 1;
		pthread_cond_wait(&by->more, &by->base.mu);
		by->asleep = 0;
	}
	pthread_mutex_unlock(&by->base.mu);
	return NULL;
}

/* ---- Deliveries ---------------------------------------------------------- */

static struct dlki_deliverer *here(void)
{
	return (struct dlki_deliverer *)dlki_common_here(
		&current, sizeof(struct dlki_deliverer));
}

int dlki_delivery_join(struct dlki_delivery *d)
{
	struct dlki_deliverer *by = here();
	int rc = 0;

	if (!by)
		return ENOMEM;
	pthread_mutex_lock(&by->base.mu);
	if (!atomic_load(&d->by)) {
		rc = dlki_common_join(&by->base, "dlock-deliver",
				      deliverer_main);
		if (rc == 0)
			atomic_store(&d->by, by);
	}
	pthread_mutex_unlock(&by->base.mu);
	return rc;
}

void dlki_delivery_post(struct dlki_delivery *d)
{
	struct dlki_deliverer *by = atomic_load(&d->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	if (!d->posted && by->calling != d)
		enqueue(by, d);
	d->posted = 1;
	if (by->asleep)
		rouse(&by->base);
	pthread_mutex_unlock(&by->base.mu);
}

void dlki_delivery_leave(struct dlki_delivery *d)
{
	struct dlki_deliverer *by = atomic_load(&d->by);

	if (!by)
		return;
	pthread_mutex_lock(&by->base.mu);
	atomic_store(&d->by, NULL);
	if (d->posted && by->calling != d)
		TAILQ_REMOVE(&by->queue, d, in_queue);
	while (by->calling == d)
		dlk_cond_wait(&by->base.changed, &by->base.mu, DLK_FOREVER);
	dlki_common_leave(&by->base, rouse);
	pthread_mutex_unlock(&by->base.mu);
}
