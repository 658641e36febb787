/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/call.h"
#include "backends/zk/limit.h"
#include "backends/zk/listing.h"
#include "backends/zk/session.h"

/* 1: the queue has changed meanwhile. */
static int resize_once(struct zk_session *s, const char *dir,
		       const struct dlk_request *request, dlk_time deadline,
		       struct dlk_error *err)
{
	struct zk_queue queue;
	int rc = dlki_zk_listing_read(s, dir, &queue, deadline, err);

	if (rc != 0)
		return rc;
	rc = queue.n == 0 ?
		     DLOCK_EINVAL :
		     dlki_zk_limit_set(s, &queue, dir, request, deadline, err);
	dlki_zk_queue_free(&queue);
	return rc;
}

int dlki_zk_resize(struct dlk_session *base, const struct dlk_request *request,
		   dlk_time deadline, struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base);
	char dir[ZK_PATH_SIZE];
	int rc = dlki_zk_enter(s, deadline, err);

	if (rc != 0)
		return rc;
	dlki_zk_dir(s, request, dir);
	do {
		rc = resize_once(s, dir, request, deadline, err);
	} while (rc > 0 && dlk_now() < deadline);
	dlki_zk_leave(s);
	return rc > 0 ? dlk_fail(err, DLOCK_EUNREACHABLE,
				 "semaphore '%s': holders and waiters change "
				 "all the time",
				 request->name) :
			rc;
}
