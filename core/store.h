/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the backend, all without the client's mu.  When they return, the
 * sink has the lines logged by the backend in the calling thread.
 */
#ifndef DLOCK_CORE_STORE_H
#define DLOCK_CORE_STORE_H

#include "core/client.h"

int dlki_store_open(struct dlock_client *client, dlk_time deadline,
		    struct dlk_error *err);
void dlki_store_close(struct dlock_client *client, dlk_time deadline);

enum dlk_verdict dlki_store_attempt(struct dlk_ticket *t, dlk_time deadline,
				    struct dlk_error *err);
void dlki_store_prepare(struct dlock_client *client,
			const struct dlk_coming coming[], size_t n);
int dlki_store_watch(struct dlk_ticket *t, dlk_time deadline,
		     struct dlk_error *err);
void dlki_store_renew(struct dlock_client *client, struct dlk_ticket *const t[],
		      enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err);
int dlki_store_release(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err);

/* For a backend that has them. */
int dlki_store_release_begin(struct dlk_ticket *t, dlk_time deadline,
			     struct dlk_error *err);
int dlki_store_downgrade(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err);
int dlki_store_inspect(struct dlock_client *client,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_store_resize(struct dlock_client *client,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err);
int dlki_store_list(struct dlock_client *client,
		    void (*each)(const struct dlock_lock_info *e, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_store_break(struct dlock_client *client,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err);
int dlki_store_revoke(struct dlock_client *client,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err);

void dlki_store_release_all(struct dlock_client *client,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline);

/* A thread of the core's gives the call's log lines to the sink, as with the
 * lines of a store's own threads. */
void dlki_store_pump(struct dlock_client *client);

#endif
