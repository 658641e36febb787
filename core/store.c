/* SPDX-License-Identifier: Apache-2.0 */
#include "core/store.h"

/* Deliver the lines that the backend writes in `call`, if there is a
 * listener. */
#define IN_BRACKET(c, call)                                                    \
	do {                                                                   \
		struct dlki_log_bracket bracket;                               \
                                                                               \
		if ((c)->log.sink)                                             \
			dlki_log_open(&bracket, &(c)->log);                    \
		call;                                                          \
		if ((c)->log.sink)                                             \
			dlki_log_close(&bracket);                              \
	} while (0)

int dlki_store_open(struct dlock_client *c, dlk_time deadline,
		    struct dlk_error *err)
{
	int rc;

	IN_BRACKET(c, rc = c->backend->open(c->session, deadline, err));
	return rc;
}

void dlki_store_close(struct dlock_client *c, dlk_time deadline)
{
	IN_BRACKET(c, c->backend->close(c->session, deadline));
}

enum dlk_verdict dlki_store_attempt(struct dlk_ticket *t, dlk_time deadline,
				    struct dlk_error *err)
{
	struct dlock_client *c = t->session->core;
	enum dlk_verdict rc;

	IN_BRACKET(c, rc = c->backend->attempt(t, deadline, err));
	return rc;
}

void dlki_store_prepare(struct dlock_client *c,
			const struct dlk_coming coming[], size_t n)
{
	IN_BRACKET(c, c->backend->prepare(c->session, coming, n));
}

int dlki_store_watch(struct dlk_ticket *t, dlk_time deadline,
		     struct dlk_error *err)
{
	struct dlock_client *c = t->session->core;
	int rc;

	IN_BRACKET(c, rc = c->backend->watch_wanted(t, deadline, err));
	return rc;
}

void dlki_store_renew(struct dlock_client *c, struct dlk_ticket *const t[],
		      enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	IN_BRACKET(c,
		   c->backend->renew(c->session, t, verdict, n, deadline, err));
}

int dlki_store_release(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err)
{
	struct dlock_client *c = t->session->core;
	int rc;

	IN_BRACKET(c, rc = c->backend->release(t, deadline, err));
	return rc;
}

int dlki_store_release_begin(struct dlk_ticket *t, dlk_time deadline,
			     struct dlk_error *err)
{
	struct dlock_client *c = t->session->core;
	int rc;

	IN_BRACKET(c, rc = c->backend->release_begin(t, deadline, err));
	return rc;
}

int dlki_store_downgrade(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err)
{
	struct dlock_client *c = t->session->core;
	int rc;

	IN_BRACKET(c, rc = c->backend->downgrade(t, deadline, err));
	return rc;
}

void dlki_store_pump(struct dlock_client *c)
{
	c->backend->pump(c->session);
}

void dlki_store_release_all(struct dlock_client *c,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline)
{
	IN_BRACKET(c, c->backend->release_all(c->session, t, n, deadline));
}

int dlki_store_inspect(struct dlock_client *c,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	int rc;

	IN_BRACKET(c, rc = c->backend->inspect(c->session, request, each, arg,
					       deadline, err));
	return rc;
}

int dlki_store_list(struct dlock_client *c,
		    void (*each)(const struct dlock_lock_info *e, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	int rc;

	IN_BRACKET(c,
		   rc = c->backend->list(c->session, each, arg, deadline, err));
	return rc;
}

int dlki_store_break(struct dlock_client *c, const struct dlk_request *request,
		     dlk_time deadline, struct dlk_error *err)
{
	int rc;

	IN_BRACKET(c,
		   rc = c->backend->break_(c->session, request, deadline, err));
	return rc;
}

int dlki_store_revoke(struct dlock_client *c, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err)
{
	int rc;

	IN_BRACKET(c,
		   rc = c->backend->revoke(c->session, request, deadline, err));
	return rc;
}

int dlki_store_resize(struct dlock_client *c, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err)
{
	int rc;

	IN_BRACKET(c,
		   rc = c->backend->resize(c->session, request, deadline, err));
	return rc;
}
