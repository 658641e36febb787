/* SPDX-License-Identifier: Apache-2.0 */
#include "core/opening.h"

#include <string.h>

#include "core/base/backoff.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/store.h"
#include "core/uri/params.h"
#include "core/wait.h"

/* With less time left, another request is not worth sending. */
#define LEAST_NS (10 * DLK_MS)

/* The session as the backend finds it, also after it has failed to open it. */
static void prepare_session(struct dlock_client *c)
{
	struct dlk_session *s = c->session;

	memset(s, 0, c->backend->session_size);
	s->backend = c->backend;
	s->uri = c->uri;
	s->label = c->label;
	s->caps = c->backend->caps;
	s->ttl_ms = dlk_param_int(c->uri, "ttl");
	s->poll_min_ms = dlk_param_int(c->uri, "retry_min");
	s->poll_max_ms = dlk_param_int(c->uri, "retry_max");
	s->core = c;
	s->attendant = c->attendant;
	s->once = c->once;
}

static int open_store(struct dlock_client *c, struct dlki_patience *patience,
		      dlk_time deadline, struct dlk_error *err)
{
	int rc;

	prepare_session(c);
	patience->ask_ms = dlki_ask_ms(&c->ask);
	err->code = 0;
	dlki_patience_begin(patience);
	DLKI_STORE(c, rc = c->backend->open(c->session, deadline, err));
	dlki_patience_end(patience);
	return rc == 0 ? 0 : dlki_reason(err, rc, c->uri->scheme);
}

static int fail_in_time(int64_t connect_ms, struct dlk_error *err)
{
	char tried[32];

	dlki_duration_text(connect_ms, tried, sizeof(tried));
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%s; tried for %s: connect= in the URI gives it more",
			err->text, tried);
}

/* The deadline cuts short a request that takes most of the time.  The error of
 * such a request tells less than the error of an earlier, refused request. */
int dlki_opening(struct dlock_client *c, int once, struct dlk_error *err)
{
	int64_t connect_ms = dlk_param_int(c->uri, "connect");
	dlk_time begun = dlk_now();
	dlk_time deadline = dlki_after_ms(begun, connect_ms);
	/* Only a dlock_close_start() ends it. */
	struct dlki_patience patience = { .cancels = &c->ends,
					  .rousers = &c->rousers };
	struct dlki_backoff backoff;
	struct dlk_error last = { 0 };

	dlki_backoff_init(&backoff, dlk_param_int(c->uri, "retry_min"),
			  dlk_param_int(c->uri, "retry_max"),
			  dlki_owner_seed(&c->owners));
	for (;; begun = dlk_now()) {
		dlk_time pause, left;
		int rc = open_store(c, &patience, deadline, err), cut;

		left = deadline - dlk_now();
		cut = left < LEAST_NS || left < (deadline - begun) / 4;
		if (rc == DLOCK_EUNREACHABLE && dlki_patience_over(&patience))
			return dlk_fail(err, DLOCK_ECANCELED,
					"the client was closed");
		if (rc != DLOCK_EUNREACHABLE || (once && !cut))
			return rc;
		if (cut && last.code != 0)
			*err = last;
		if (cut)
			return fail_in_time(connect_ms, err);
		if (last.code == 0)
			dlki_log_failed(c, DLKI_INFO, NULL, err,
					"opening, trying again: ");
		last = *err;
		pause = dlki_backoff_next(&backoff);
		if (pause > left / 2)
			pause = left / 2;
		dlki_wait_pause(c, &patience, dlk_now() + pause);
	}
}
