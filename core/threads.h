/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads behind a client's schedule, for all clients of the process.
 *
 * "dlock-loop" (base/source.h) never calls a backend for the schedule:
 * dlock-loop declares claims lost when their time has run out, whatever the
 * store does at the time, and tells the renewer when work is due.  The renewer,
 * a job of "dlock-work" (base/job.h), calls the backend: it renews in batches,
 * and cleans up after releases without a confirmation.
 */
#ifndef DLOCK_CORE_THREADS_H
#define DLOCK_CORE_THREADS_H

#include "core/client.h"

int dlki_threads_start(struct dlock_client *client, struct dlk_error *err);

/* Without mu, once schedule.stop is set.  Waits for the renewer's call of the
 * backend. */
void dlki_threads_stop(struct dlock_client *client);

#endif
