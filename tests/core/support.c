/* SPDX-License-Identifier: Apache-2.0 */
#include "core/support.h"

#include <stdio.h>
#include <string.h>

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

dlock_client *open_store(const char *uri, const dlock_options *opts)
{
	dlock_client *c = NULL;

	OK(fake_register());
	OK(dlock_open(&c, uri, opts));
	return c;
}

dlk_time late(dlk_time t)
{
	return t + (stalled_ms() + grace_ms()) * DLK_MS;
}

void close_within(dlock_client *client, int64_t most_ms)
{
	dlk_time began = dlk_now(), took;

	dlock_close(client);
	took = dlk_now() - began;
	cr_assert_leq(took, late(most_ms * DLK_MS), "closing took %lld ms",
		      (long long)(took / DLK_MS));
	cr_assert_null(fake_complaint(), "%s", fake_complaint());
}

void close_store(dlock_client *client)
{
	close_within(client, 5000);
}
