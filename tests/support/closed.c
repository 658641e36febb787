/* SPDX-License-Identifier: Apache-2.0 */
#include "support/closed.h"

static int refuse_open(struct dlk_session *s, dlk_time deadline,
		       struct dlk_error *err)
{
	(void)s;
	(void)deadline;
	return dlk_fail(err, DLOCK_EDENIED, "this store lets no client in");
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
		.close = dlki_mem_backend.close,
		.attempt = dlki_mem_backend.attempt,
		.release = dlki_mem_backend.release,
	};
}
