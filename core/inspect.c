/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inspect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/patience.h"
#include "core/claim.h"
#include "core/guard.h"
#include "core/store.h"
#include "core/wait.h"
#include "core/watch.h"

#define FOR_EVER_MS 600000 /* what is asked for ever takes at most */

/* What the store reported, copied, with its strings behind it. */
struct report {
	struct report *next;
	union {
		struct dlock_participant participant;
		struct dlock_lock_info info;
	} as;
	char text[];
};

/* A question under way. */
struct question {
	struct dlock_client *client;
	struct dlk_request request;    /* inspect, break: about which lock */
	struct dlki_patience patience; /* over when the client is closed */
	dlk_time deadline;
	struct report *first, **last;
	int nomem; /* for a report */
};

/* ---- Reports ------------------------------------------------------------- */

/* A report with `a` and `b` at text and text + strlen(a) + 1. */
static struct report *append_report(struct question *q, const char *a,
				    const char *b)
{
	size_t size_a = strlen(a) + 1;
	size_t size_b = strlen(b) + 1;
	struct report *r = calloc(1, sizeof(*r) + size_a + size_b);

	if (!r) {
		q->nomem = 1;
		return NULL;
	}
	memcpy(r->text, a, size_a);
	memcpy(r->text + size_a, b, size_b);
	*q->last = r;
	q->last = &r->next;
	return r;
}

static void append_participant(const struct dlock_participant *p, void *arg)
{
	const char *label = p->label ? p->label : "";
	struct report *r = append_report(arg, label, p->id ? p->id : "");

	if (!r)
		return;
	r->as.participant = *p;
	r->as.participant.label = r->text;
	r->as.participant.id = r->text + strlen(label) + 1;
}

static void append_info(const struct dlock_lock_info *e, void *arg)
{
	struct report *r = append_report(arg, e->name, e->kind);

	if (!r)
		return;
	r->as.info = *e;
	r->as.info.name = r->text;
	r->as.info.kind = r->text + strlen(e->name) + 1;
}

static struct report *next_report(struct question *q)
{
	struct report *r = q->first;

	if (r)
		q->first = r->next;
	return r;
}

/* ---- Questions ----------------------------------------------------------- */

static int refuse(const struct question *q, const char *what,
		  struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ENOTSUP, "%s: cannot %s",
			q->client->uri->scheme, what);
}

static int ask_inspect(struct question *q, struct dlk_error *err)
{
	if (!(q->client->session->caps & DLOCK_CAP_INSPECT))
		return refuse(q, "report the holders of a lock", err);
	return dlki_store_inspect(q->client, &q->request, append_participant, q,
				  q->deadline, err);
}

static int ask_list(struct question *q, struct dlk_error *err)
{
	if (!(q->client->session->caps & DLOCK_CAP_LIST))
		return refuse(q, "list its locks", err);
	return dlki_store_list(q->client, append_info, q, q->deadline, err);
}

static int ask_break(struct question *q, struct dlk_error *err)
{
	if (!q->client->backend->break_)
		return refuse(q, "break a lock", err);
	return dlki_store_break(q->client, &q->request, q->deadline, err);
}

static int has_revoke(const struct dlock_backend *b)
{
	return b->size >= offsetof(struct dlock_backend, revoke) +
				  sizeof(b->revoke) &&
	       b->revoke;
}

static int ask_revoke(struct question *q, struct dlk_error *err)
{
	if (!q->client->can_watch || !has_revoke(q->client->backend))
		return refuse(q, "tell a holder that others want a lock", err);
	return dlki_store_revoke(q->client, &q->request, q->deadline, err);
}

/* Have `put` ask the store.  The question then has what the store reported,
 * also after a failure. */
static int ask_store(struct question *q, struct dlock_client *c,
		     int (*put)(struct question *q, struct dlk_error *err),
		     int64_t timeout_ms, struct dlk_error *err)
{
	int64_t ask_ms = dlki_ask_ms(&c->ask);
	int rc = dlki_timeout_check(timeout_ms, err);

	q->last = &q->first;
	if (rc == 0)
		rc = dlki_client_begin(c, err);
	if (rc != 0)
		return rc;
	if (timeout_ms < 0)
		timeout_ms = FOR_EVER_MS;
	q->client = c;
	q->patience = (struct dlki_patience){ .cancels = &c->ends,
					      .ask_ms = ask_ms };
	q->deadline = dlki_after_ms(dlki_deadline(timeout_ms), ask_ms);
	dlki_patience_begin(&q->patience);
	rc = dlki_reason(err, put(q, err), c->uri->scheme);
	dlki_patience_end(&q->patience);
	if (rc == DLOCK_EUNREACHABLE && dlki_patience_over(&q->patience))
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client was closed");
	dlki_client_end(c);
	if (rc == 0 && q->nomem)
		rc = dlki_nomem(err);
	return rc;
}

static int about_lock(struct question *q, const dlock_lock *lock,
		      struct dlk_error *err)
{
	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (lock->multi)
		return dlk_fail(err, DLOCK_EINVAL,
				"a multi-lock: ask about its members");
	q->request = dlki_record_request(lock->record);
	return 0;
}

/* The waiters that wait for a claim of this client: the store does not know
 * them.  One that reports no waiters reports none of these either. */
static void append_own_waiters(struct question *q, const struct dlki_record *r)
{
	struct dlock_client *c = q->client;

	if (!(c->session->caps & DLOCK_CAP_FAIR))
		return;
	pthread_mutex_lock(&c->mu);
	for (const struct dlki_claim *w = r->parked; w; w = w->parked_next) {
		char id[9] = ""; /* the whole would be a secret */
		struct dlock_participant p = {
			.size = sizeof(p),
			.label = c->label,
			.id = id,
			.remaining_ms = -1,
			.waiting = 1,
		};

		memcpy(id, w->owner, sizeof(id) - 1);
		if (w->residue.is == DLKI_NONE)
			append_participant(&p, q);
	}
	pthread_mutex_unlock(&c->mu);
}

int dlki_inspect(const dlock_lock *lock,
		 void (*each)(const struct dlock_participant *p, void *arg),
		 void *arg, int64_t timeout_ms, struct dlk_error *err)
{
	struct question q = { 0 };
	struct report *r;
	int rc = about_lock(&q, lock, err);

	if (rc != 0)
		return rc;
	if (!each)
		return dlk_fail(err, DLOCK_EINVAL, "each is NULL");
	rc = ask_store(&q, lock->record->client, ask_inspect, timeout_ms, err);
	if (rc == 0)
		append_own_waiters(&q, lock->record);
	if (rc == 0 && q.nomem)
		rc = dlki_nomem(err);
	while ((r = next_report(&q))) {
		if (rc == 0)
			each(&r->as.participant, arg);
		free(r);
	}
	return rc;
}

int dlki_list(dlock_client *client,
	      void (*each)(const struct dlock_lock_info *info, void *arg),
	      void *arg, int64_t timeout_ms, struct dlk_error *err)
{
	struct question q = { 0 };
	struct report *r;
	int rc;

	if (!client)
		return dlk_fail(err, DLOCK_EINVAL, "client is NULL");
	if (!each)
		return dlk_fail(err, DLOCK_EINVAL, "each is NULL");
	rc = ask_store(&q, client, ask_list, timeout_ms, err);
	while ((r = next_report(&q))) {
		if (rc == 0)
			each(&r->as.info, arg);
		free(r);
	}
	return rc;
}

int dlki_break(const dlock_lock *lock, int64_t timeout_ms,
	       struct dlk_error *err)
{
	struct question q = { 0 };
	int rc = about_lock(&q, lock, err);

	if (rc != 0)
		return rc;
	return ask_store(&q, lock->record->client, ask_break, timeout_ms, err);
}

/* The holders of this client are told even if the store does not answer. */
int dlki_revoke(const dlock_lock *lock, int64_t timeout_ms,
		struct dlk_error *err)
{
	struct question q = { 0 };
	struct dlock_client *c;
	int rc = about_lock(&q, lock, err);

	if (rc != 0)
		return rc;
	c = lock->record->client;
	rc = dlki_client_ours(c, err);
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	if (!c->closing)
		dlki_watch_revoke(lock->record);
	pthread_mutex_unlock(&c->mu);
	return ask_store(&q, c, ask_revoke, timeout_ms, err);
}
