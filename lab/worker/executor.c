/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/worker/executor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lab_executor_lock(struct lab_executor *w, const struct lab_order *e)
{
	int rc = DLOCK_OK;

	if (w->foreign) {
		snprintf(w->name, sizeof(w->name), "%s", e->name);
		return e->mode == LAB_MUTEX ? DLOCK_OK : DLOCK_ENOTSUP;
	}
	if (w->lock && !strcmp(w->name, e->name) && w->limit == e->limit &&
	    (w->mode == LAB_MUTEX) == (e->mode == LAB_MUTEX)) {
		w->mode = e->mode;
		return DLOCK_OK;
	}
	pthread_mutex_lock(&w->mutex);
	dlock_lock_free(w->lock);
	w->lock = NULL;
	switch (e->mode) {
	case LAB_MUTEX:
		rc = dlock_mutex_new(&w->lock, w->client, e->name);
		break;
	case LAB_WRITE:
	case LAB_READ:
		rc = dlock_rwlock_new(&w->lock, w->client, e->name);
		break;
	case LAB_PERMIT:
		rc = dlock_semaphore_new(&w->lock, w->client, e->name,
					 e->limit);
		break;
	}
	pthread_mutex_unlock(&w->mutex);
	snprintf(w->name, sizeof(w->name), "%s", e->name);
	w->mode = e->mode;
	w->limit = e->limit;
	return rc;
}

int lab_executor_acquire(struct lab_executor *w, const struct lab_order *e,
			 int64_t timeout_ms)
{
	dlock_hold *hold = NULL;
	uint64_t token = 0;
	int rc = lab_executor_lock(w, e);

	if (rc != DLOCK_OK)
		return rc;
	w->op = lab_holds_acquire(&w->holds, e->name, e->mode, e->limit,
				  timeout_ms);
	if (w->foreign)
		rc = lab_foreign_acquire(w->foreign, e->name, timeout_ms,
					 &token);
	else if (e->mode == LAB_READ)
		rc = dlock_acquire_shared(w->lock, timeout_ms, &hold);
	else
		rc = dlock_acquire(w->lock, timeout_ms, &hold);
	if (hold)
		token = dlock_token(hold);
	lab_holds_acquired(&w->holds, w->op, rc, hold, token);
	w->hold = hold;
	w->token = token;
	w->held = rc == DLOCK_OK;
	return rc;
}

int lab_executor_release(struct lab_executor *w)
{
	int rc;

	if (!w->held)
		return DLOCK_EINVAL;
	lab_holds_release(&w->holds, w->op);
	rc = w->foreign ? lab_foreign_release(w->foreign) :
			  dlock_release(w->hold);
	w->hold = NULL;
	w->held = false;
	lab_holds_released(&w->holds, w->op, rc);
	return rc;
}

void lab_executor_say(struct lab_reply *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->text, sizeof(r->text), format, args);
	va_end(args);
}
