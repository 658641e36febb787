/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect, resize, and break. */
#include "backends/memcached/memcached.h"

/* Inspect; the rows come with the last answer. */
int dlki_memc_inspect(struct dlk_session *base,
		      const struct dlk_request *request,
		      void (*each)(const struct dlock_participant *p,
				   void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .request = request,
					       .each.participant = each,
					       .each_arg = arg } };

	return dlki_memc_ask(base, &op, DLKI_INSPECT, deadline, err);
}

int dlki_memc_resize(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .request = request } };
	int rc = dlki_memc_ask(base, &op, DLKI_RESIZE, deadline, err);

	return rc == 0 && !op.base.stood ? DLOCK_EINVAL : rc;
}

int dlki_memc_break(struct dlk_session *base, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err)
{
	char about[DLKI_ABOUT] = "";
	struct dlki_opcall_op op = { .base = { .request = request,
					       .about = about } };

	return dlki_memc_ask(base, &op, DLKI_BREAK, deadline, err);
}
