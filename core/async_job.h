/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The async job of a client runs the client's asynchronous calls, one by one.
 * A piece of the job is a call, or a batch of calls.  With the first call the
 * job joins "dlock-async", or the client's own attendant: see base/job.h.
 */
#ifndef DLOCK_CORE_ASYNC_JOB_H
#define DLOCK_CORE_ASYNC_JOB_H

#include "core/async.h"

/* Without mu: as dlki_client_begin(), and the job has joined. */
int dlki_async_client_begin(struct dlock_client *client, struct dlk_error *err);

/* Without mu: begin a public call that begins an asynchronous call, which can
 * be entered.  NULL: see err. */
struct dlki_async *dlki_async_begin(struct dlock_client *client,
				    dlock_done_fn done, void *arg,
				    struct dlk_error *err);

/* End the public call with `rc`; after an error the asynchronous call has not
 * begun. */
int dlki_async_begun(struct dlock_client *client, struct dlki_async *call,
		     int rc);

/* With mu held: enter a release, READY.  0, and the hold has ended for the
 * program; or EINVAL, as dlki_release_begin(). */
int dlki_async_release(struct dlki_async *call, struct dlk_error *err);

/* Without mu, once no call is left.  Waits for a piece that runs. */
void dlki_async_job_stop(struct dlock_client *client);

#endif
