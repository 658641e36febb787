/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/common.h"

#include <dlock/backend.h>
#include <stdlib.h>

#include "core/base/process.h"

struct dlki_common *dlki_common_here(struct dlki_common *_Atomic *current,
				     size_t size)
{
	struct dlki_common *known = atomic_load(current);
	struct dlki_common *fresh;

	if (known && known->process == dlki_process())
		return known;
	fresh = calloc(1, size);
	if (!fresh)
		return NULL;
	fresh->process = dlki_process();
	fresh->before = known;
	pthread_mutex_init(&fresh->mu, NULL);
	dlk_cond_init(&fresh->changed);
	if (atomic_compare_exchange_strong(current, &known, fresh))
		return fresh;
	pthread_cond_destroy(&fresh->changed);
	pthread_mutex_destroy(&fresh->mu);
	free(fresh);
	return known;
}

void dlki_common_settle(struct dlki_common *c)
{
	while (c->stop)
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
}

int dlki_common_join(struct dlki_common *c, const char *name,
		     void *(*run)(void *common))
{
	int rc = 0;

	dlki_common_settle(c);
	if (!c->runs)
		rc = dlk_thread(&c->thread, name, run, c);
	if (rc != 0)
		return rc;
	c->runs = 1;
	c->users++;
	return 0;
}

void dlki_common_leave(struct dlki_common *c,
		       void (*end)(struct dlki_common *common))
{
	if (--c->users > 0)
		return;
	c->stop = 1;
	end(c);
	pthread_mutex_unlock(&c->mu);
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&c->mu);
	c->runs = c->stop = 0;
	pthread_cond_broadcast(&c->changed);
}
