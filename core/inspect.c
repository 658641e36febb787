/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/patience.h"
#include "core/claim.h"
#include "core/guard.h"
#include "core/name.h"
#include "core/parked.h"
#include "core/store.h"
#include "core/wait.h"
#include "core/watch.h"

#define FOR_EVER_MS 600000 /* the most time for a question without a timeout */

/* A copy of the store's report, with the strings behind it. */
struct report {
	STAILQ_ENTRY(report) in_reports;
	union {
		struct dlock_participant participant;
		struct dlock_lock_info info;
	} as;
	char text[];
};

/* A question under way. */
struct dlki_question {
	struct dlock_client *client;
	struct dlk_request request;    /* inspect, break: about which lock */
	struct dlki_patience patience; /* over when the client is closed */
	dlk_time deadline;
	STAILQ_HEAD(, report) reports;
	int nomem; /* for a report */

	void (*each)(const struct dlock_participant *p, void *arg);
	void *arg;

	/* Of a question without a waiting thread: with a reference, or NULL:
	 * not begun. */
	struct dlki_record *record;
};

/* ---- Reports ------------------------------------------------------------- */

/* A report with `a` and `b` at text and text + strlen(a) + 1. */
static struct report *append_report(struct dlki_question *q, const char *a,
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
	STAILQ_INSERT_TAIL(&q->reports, r, in_reports);
	return r;
}

static void append_participant(const struct dlock_participant *p, void *arg)
{
	const char *label = p->label ? p->label : "";
	struct dlki_question *q = arg;
	struct report *r = append_report(q, label, p->id ? p->id : "");

	if (!r)
		return;
	r->as.participant = *p;
	if (q->request.kind == DLK_SEMAPHORE && p->permits == 0)
		r->as.participant.permits = 1;
	if (q->request.kind == DLK_SEMAPHORE && p->limit == 0)
		r->as.participant.limit = q->request.limit;
	r->as.participant.label = r->text;
	r->as.participant.id = r->text + strlen(label) + 1;
}

/* Other users can write names into the store that no lock can have. */
static void append_info(const struct dlock_lock_info *e, void *arg)
{
	struct dlk_error illegal;
	struct report *r;

	if (dlki_name_check(e->name, &illegal) != 0)
		return;
	r = append_report(arg, e->name, e->kind);
	if (!r)
		return;
	r->as.info = *e;
	r->as.info.name = r->text;
	r->as.info.kind = r->text + strlen(e->name) + 1;
}

static struct report *next_report(struct dlki_question *q)
{
	struct report *r = STAILQ_FIRST(&q->reports);

	if (r)
		STAILQ_REMOVE_HEAD(&q->reports, in_reports);
	return r;
}

/* ---- Questions ----------------------------------------------------------- */

static int refuse(const struct dlki_question *q, const char *what,
		  struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ENOTSUP, "%s: cannot %s",
			q->client->uri->scheme, what);
}

static int ask_inspect(struct dlki_question *q, struct dlk_error *err)
{
	if (!(q->client->session->caps & DLOCK_CAP_INSPECT))
		return refuse(q, "report the holders of a lock", err);
	return q->client->backend->inspect(q->client->session, &q->request,
					   append_participant, q, q->deadline,
					   err);
}

static int ask_list(struct dlki_question *q, struct dlk_error *err)
{
	if (!(q->client->session->caps & DLOCK_CAP_LIST))
		return refuse(q, "list its locks", err);
	return q->client->backend->list(q->client->session, append_info, q,
					q->deadline, err);
}

static int ask_break(struct dlki_question *q, struct dlk_error *err)
{
	if (!q->client->backend->break_)
		return refuse(q, "break a lock", err);
	return q->client->backend->break_(q->client->session, &q->request,
					  q->deadline, err);
}

static int ask_resize(struct dlki_question *q, struct dlk_error *err)
{
	const struct dlock_client *c = q->client;
	int rc;

	if (!(c->session->caps & DLOCK_CAP_RESIZE))
		return refuse(q, "change the number of permits", err);
	rc = c->backend->resize(c->session, &q->request, q->deadline, err);
	if (rc != DLOCK_EINVAL)
		return rc;
	return dlk_fail(err, rc,
			"nobody uses the semaphore '%s': until somebody does, "
			"handles say how many permits it has",
			q->request.name);
}

static int ask_revoke(struct dlki_question *q, struct dlk_error *err)
{
	const struct dlock_client *c = q->client;

	if (!c->can_watch)
		return refuse(q, "tell a holder that others want a lock", err);
	if (q->request.kind == DLK_SEMAPHORE &&
	    !(c->session->caps & DLOCK_CAP_REVOKE_PERMITS))
		return refuse(q,
			      "tell the holders of permits: dlock_break() "
			      "ends the holds",
			      err);
	return c->backend->revoke(c->session, &q->request, q->deadline, err);
}

static int begin(struct dlki_question *q, struct dlock_client *c,
		 int64_t timeout_ms, struct dlk_error *err)
{
	int64_t ask_ms = dlki_ask_ms(&c->ask);
	int rc = dlki_timeout_check(timeout_ms, err);

	STAILQ_INIT(&q->reports);
	if (rc != 0)
		return rc;
	if (timeout_ms < 0)
		timeout_ms = FOR_EVER_MS;
	q->client = c;
	q->patience = (struct dlki_patience){ .cancels = &c->ends,
					      .ask_ms = ask_ms };
	q->deadline = dlki_after_ms(dlki_deadline(timeout_ms), ask_ms);
	return 0;
}

/* Have `put` ask the store.  The question then has the store's report, also
 * after a failure. */
static int ask_store(struct dlki_question *q,
		     int (*put)(struct dlki_question *q, struct dlk_error *err),
		     struct dlk_error *err)
{
	struct dlock_client *c = q->client;
	int rc = dlki_client_begin(c, err);

	if (rc != 0)
		return rc;
	dlki_patience_begin(&q->patience);
	DLKI_STORE(c, rc = dlki_reason(err, put(q, err), c->uri->scheme));
	dlki_patience_end(&q->patience);
	if (rc == DLOCK_EUNREACHABLE && dlki_patience_over(&q->patience))
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client was closed");
	dlki_client_end(c);
	if (rc == 0 && q->nomem)
		rc = dlki_nomem(err);
	return rc;
}

static int begin_about(struct dlki_question *q, const dlock_lock *lock,
		       int64_t timeout_ms, struct dlk_error *err)
{
	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (dlki_lock_is_multi(lock))
		return dlk_fail(err, DLOCK_EINVAL,
				"a multi-lock: ask about its members");
	q->request = dlki_record_request(lock->record);
	return begin(q, lock->record->client, timeout_ms, err);
}

/* For a store that reports no waiters, report no waiters here either. */
static int inspect(struct dlki_question *q, const struct dlki_record *r,
		   struct dlk_error *err)
{
	struct dlock_client *c = q->client;
	int rc = ask_store(q, ask_inspect, err);

	if (rc == 0 && c->session->caps & DLOCK_CAP_FAIR) {
		pthread_mutex_lock(&c->mu);
		dlki_parked_report(r, append_participant, q);
		pthread_mutex_unlock(&c->mu);
	}
	return rc == 0 && q->nomem ? dlki_nomem(err) : rc;
}

static void tell_participants(struct dlki_question *q, int rc)
{
	struct report *r;

	while ((r = next_report(q))) {
		if (rc == 0)
			q->each(&r->as.participant, q->arg);
		free(r);
	}
}

int dlki_inspect(const dlock_lock *lock,
		 void (*each)(const struct dlock_participant *p, void *arg),
		 void *arg, int64_t timeout_ms, struct dlk_error *err)
{
	struct dlki_question q = { .each = each, .arg = arg };
	int rc = begin_about(&q, lock, timeout_ms, err);

	if (rc == 0 && !each)
		rc = dlk_fail(err, DLOCK_EINVAL, "each is NULL");
	if (rc == 0)
		rc = inspect(&q, lock->record, err);
	tell_participants(&q, rc);
	return rc;
}

int dlock_inspect(dlock_lock *lock,
		  void (*each)(const struct dlock_participant *participant,
			       void *arg),
		  void *arg, int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, dlki_inspect(lock, each, arg, timeout_ms,
						&s.err));
}

int dlock_list(dlock_client *client,
	       void (*each)(const struct dlock_lock_info *entry, void *arg),
	       void *arg, int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();
	struct dlki_question q = { 0 };
	struct report *r;
	int rc = 0;

	if (!client || !each)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "%s is NULL",
			      client ? "each" : "client");
	if (rc == 0)
		rc = begin(&q, client, timeout_ms, &s.err);
	if (rc == 0)
		rc = ask_store(&q, ask_list, &s.err);
	while ((r = next_report(&q))) {
		if (rc == 0)
			each(&r->as.info, arg);
		free(r);
	}
	return dlki_leave_with(&s, rc);
}

int dlki_resize(const dlock_lock *lock, uint32_t permits, int64_t timeout_ms,
		struct dlk_error *err)
{
	struct dlki_question q = { 0 };
	int rc = begin_about(&q, lock, timeout_ms, err);

	q.request.limit = permits;
	return rc == 0 ? ask_store(&q, ask_resize, err) : rc;
}

int dlock_break(dlock_lock *lock, int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();
	struct dlki_question q = { 0 };
	int rc = begin_about(&q, lock, timeout_ms, &s.err);

	if (rc == 0)
		rc = ask_store(&q, ask_break, &s.err);
	return dlki_leave_with(&s, rc);
}

/* The holders of this client are told even if the store does not answer. */
int dlock_revoke(dlock_lock *lock, int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();
	struct dlki_question q = { 0 };
	int rc = begin_about(&q, lock, timeout_ms, &s.err);

	if (rc == 0)
		rc = dlki_client_ours(q.client, &s.err);
	if (rc != 0)
		return dlki_leave_with(&s, rc);
	pthread_mutex_lock(&q.client->mu);
	if (!q.client->closing)
		dlki_watch_revoke(lock->record);
	pthread_mutex_unlock(&q.client->mu);
	return dlki_leave_with(&s, ask_store(&q, ask_revoke, &s.err));
}

/* ---- Without waiting ----------------------------------------------------- */

struct dlki_question *dlki_question_new(
	const dlock_lock *lock,
	void (*each)(const struct dlock_participant *p, void *arg), void *arg,
	int64_t timeout_ms, struct dlk_error *err)
{
	struct dlki_question *q = calloc(1, sizeof(*q));
	int rc;

	if (!q) {
		dlki_nomem(err);
		return NULL;
	}
	rc = begin_about(q, lock, timeout_ms, err);
	if (rc != 0) {
		free(q);
		return NULL;
	}
	q->each = each;
	q->arg = arg;
	return q;
}

dlk_time dlki_question_begin(struct dlki_question *q,
			     struct dlki_record *record)
{
	record->refs++;
	q->record = record;
	return q->deadline;
}

const struct dlki_record *dlki_question_record(const struct dlki_question *q)
{
	return q->record;
}

int dlki_question_ask(struct dlki_question *q, dlk_time latest,
		      struct dlk_error *err)
{
	dlk_time least = dlki_after_ms(dlk_now(), q->patience.ask_ms);
	dlk_time end = q->deadline < latest ? q->deadline : latest;

	q->deadline = end > least ? end : least;
	return q->each ? inspect(q, q->record, err) :
			 ask_store(q, ask_break, err);
}

void dlki_question_end(struct dlki_question *q, int rc)
{
	tell_participants(q, rc);
	if (q->record) {
		pthread_mutex_lock(&q->client->mu);
		dlki_record_unref(q->record);
		pthread_mutex_unlock(&q->client->mu);
	}
	free(q);
}
