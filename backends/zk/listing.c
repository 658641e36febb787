/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/listing.h"
#include "backends/zk/call.h"
#include "backends/zk/limit.h"
#include "backends/zk/session.h"

int dlki_zk_listing_queue(struct zk_session *s, struct zk_queue *out,
			  const char *dir, const struct zk_call *children,
			  dlk_time deadline, struct dlk_error *err)
{
	int rc = dlki_zk_queue_from(s, out, dir, children, deadline, err);

	if (rc != 0)
		return rc;
	rc = dlki_zk_limit_find(s, out, dir, children, deadline, err);
	if (rc != 0)
		dlki_zk_queue_free(out);
	return rc;
}

static int read_once(struct zk_session *s, const char *dir,
		     struct zk_queue *out, dlk_time deadline,
		     struct dlk_error *err)
{
	struct zk_call *children = dlki_zk_children(s, dir);
	int rc = 0;

	dlki_zk_wait(s, &children, 1, deadline);
	if (!children || children->rc != ZNONODE)
		rc = dlki_zk_reason(children, "listing", err);
	if (rc == 0)
		rc = dlki_zk_listing_queue(s, out, dir, children, deadline,
					   err);
	if (rc == 0)
		out->listing = children;
	else
		dlki_zk_drop(&children, 1);
	return rc;
}

int dlki_zk_listing_read(struct zk_session *s, const char *dir,
			 struct zk_queue *out, dlk_time deadline,
			 struct dlk_error *err)
{
	int rc;

	do {
		rc = read_once(s, dir, out, deadline, err);
	} while (rc > 0 && dlk_now() < deadline);
	return rc > 0 ?
		       dlk_fail(err, DLOCK_EUNREACHABLE,
				"%.160s: the queue changes all the time", dir) :
		       rc;
}
