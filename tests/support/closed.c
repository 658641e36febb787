/* SPDX-License-Identifier: Apache-2.0 */
#include "support/closed.h"

static int refuse_open(struct dlk_session *s, dlk_time deadline,
		       struct dlk_error *err)
{
	(void)s;
	(void)deadline;
	return dlk_fail(err, DLOCK_EDENIED, "this store lets no client in");
}

static void ignore_close(struct dlk_session *s, dlk_time deadline)
{
	(void)s;
	(void)deadline;
}

static enum dlk_verdict refuse_attempt(struct dlk_ticket *t, dlk_time deadline,
				       struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return DLK_BUSY;
}

static int ignore_release(struct dlk_ticket *t, dlk_time deadline,
			  struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
	return 0;
}

struct dlock_backend closed_backend(const char *const *schemes)
{
	return (struct dlock_backend){
		.size = sizeof(struct dlock_backend),
		.schemes = schemes,
		.summary = "another store",
		.session_size = sizeof(struct dlk_session),
		.ticket_size = sizeof(struct dlk_ticket),
		.open = refuse_open,
		.close = ignore_close,
		.attempt = refuse_attempt,
		.release = ignore_release,
	};
}
