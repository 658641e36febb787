/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: one opened store, and all that the core keeps about it.
 */
#ifndef DLOCK_CORE_CLIENT_H
#define DLOCK_CORE_CLIENT_H

#include <stdatomic.h>

#include "core/cond.h"
#include "core/event.h"
#include "core/joint.h"
#include "core/lease.h"
#include "core/owner.h"
#include "core/process.h"
#include "core/slots.h"

struct dlock_client {
	/* Constant once opened. */
	uint64_t process;                /* dlki_process() of the opener */
	const struct dlock_backend *backend;
	struct dlk_uri *uri;
	char *label;
	dlock_event_fn on_event;
	dlock_log_fn on_log;
	void *arg;
	int64_t ask_ms, request_ms, close_ms, max_hold_ms;
	struct dlk_session *session;  /* the backend's, in a block of its own */

	struct dlki_owners owners;       /* locks itself */

	/*
	 * mu protects all that follows, the records, the handles' lists and
	 * every claim but where claim.h says otherwise.  It is a leaf: while it
	 * is held no other lock is taken, no backend and no callback called.
	 */
	pthread_mutex_t mu;
	pthread_cond_t changed;        /* a call, request or callback is over */
	uint64_t refs;                   /* of this struct: opener, records,
					  * claims */
	unsigned int calls;          /* public calls that may use the backend */
	int closing;
	int dead;                        /* the backend's session is gone */
	struct dlki_joint *joints;       /* waits that are under way */
	void *records;                  /* tsearch tree of struct dlki_record */
	struct dlki_slots slots;         /* claims by ticket id */
	struct dlki_lease lease;
	struct dlki_events events;
	struct dlock_stats stats;
};

/*
 * Begin a public call that may use the backend: 0, EFORKED, or ECANCELED once
 * the client is closing.  Ends with dlki_client_end().
 */
int dlki_client_begin(struct dlock_client *client, struct dlk_error *err);
void dlki_client_end(struct dlock_client *client);

/* EFORKED in a process that is not the client's. */
int dlki_client_ours(const struct dlock_client *client, struct dlk_error *err);

/* Unlock mu; frees the client if no reference is left. */
void dlki_client_unlock(struct dlock_client *client);

#endif
