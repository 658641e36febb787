/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the store that are not about a hold: inspect, break, list.
 *
 * A backend may report with its own locks held; the user's callback, which may
 * call anything, is called when the backend has returned and the call is over
 * for the client, so that it may even close that.
 */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/lock.h"

static dlk_time limit(const struct dlock_client *c, int64_t timeout_ms)
{
	dlk_time most = dlki_after_ms(dlk_now(), c->request_ms);
	dlk_time asked = dlki_after_ms(dlki_deadline(timeout_ms), c->ask_ms);

	return asked < most ? asked : most;
}

static int refuse(const struct dlock_client *c, const char *what,
		  struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ENOTSUP, "%s: cannot %s", c->uri->scheme,
			what);
}

struct report {
	struct report *next;
	union {
		struct dlock_party party;
		struct dlock_entry entry;
	} as;
	char text[]; /* its strings */
};

struct reports {
	struct report *first, **last;
	int nomem;
};

/* A copy with `a` and `b` behind it, at text and text + strlen(a) + 1. */
static struct report *collect(struct reports *all, const char *a, const char *b)
{
	size_t size_a = strlen(a) + 1;
	size_t size_b = strlen(b) + 1;
	struct report *r = calloc(1, sizeof(*r) + size_a + size_b);

	if (!r) {
		all->nomem = 1;
		return NULL;
	}
	memcpy(r->text, a, size_a);
	memcpy(r->text + size_a, b, size_b);
	*all->last = r;
	all->last = &r->next;
	return r;
}

static void collect_party(const struct dlock_party *p, void *arg)
{
	const char *label = p->label ? p->label : "";
	struct report *r = collect(arg, label, p->id ? p->id : "");

	if (!r)
		return;
	r->as.party = *p;
	r->as.party.label = r->text;
	r->as.party.id = r->text + strlen(label) + 1;
}

static void collect_entry(const struct dlock_entry *e, void *arg)
{
	struct report *r = collect(arg, e->name, e->kind);

	if (!r)
		return;
	r->as.entry = *e;
	r->as.entry.name = r->text;
	r->as.entry.kind = r->text + strlen(e->name) + 1;
}

static struct report *take(struct reports *all)
{
	struct report *r = all->first;

	if (r)
		all->first = r->next;
	return r;
}

static struct dlk_claim claim_of(const dlock_lock *lock)
{
	const struct dlki_record *r = lock->record;

	return (struct dlk_claim){
		.name = r->name,
		.key = r->key,
		.label = r->client->label,
		.kind = r->kind,
		.mode = r->kind == DLK_SEMAPHORE ? DLK_SHARED : DLK_EXCLUSIVE,
		.limit = r->limit,
	};
}

static int check(const dlock_lock *lock, struct dlk_error *err)
{
	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (lock->multi)
		return dlk_fail(err, DLOCK_EINVAL,
				"a multi-lock: ask about its members");
	return 0;
}

static int inspect(dlock_lock *lock,
		   void (*each)(const struct dlock_party *party, void *arg),
		   void *arg, int64_t timeout_ms, struct dlk_error *err)
{
	struct reports all = { NULL, &all.first, 0 };
	struct dlk_claim claim;
	struct dlock_client *c;
	struct report *r;
	int rc = check(lock, err);

	if (rc != 0)
		return rc;
	if (!each)
		return dlk_fail(err, DLOCK_EINVAL, "each is NULL");
	c = lock->record->client;
	rc = dlki_client_begin(c, err);
	if (rc != 0)
		return rc;
	claim = claim_of(lock);
	if (c->session->caps & DLOCK_CAP_INSPECT)
		rc = c->backend->inspect(c->session, &claim, collect_party,
					 &all, limit(c, timeout_ms), err);
	else
		rc = refuse(c, "tell who holds a lock", err);
	rc = dlki_reason(err, rc, c->uri->scheme);
	dlki_client_end(c);
	if (rc == 0 && all.nomem)
		rc = dlki_nomem(err);
	for (r = take(&all); r; r = take(&all)) {
		if (rc == 0)
			each(&r->as.party, arg);
		free(r);
	}
	return rc;
}

int dlock_inspect(dlock_lock *lock,
		  void (*each)(const struct dlock_party *party, void *arg),
		  void *arg, int64_t timeout_ms)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = inspect(lock, each, arg, timeout_ms, &err);

	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}

static int break_lock(dlock_lock *lock, int64_t timeout_ms,
		      struct dlk_error *err)
{
	struct dlk_claim claim;
	struct dlock_client *c;
	int rc = check(lock, err);

	if (rc != 0)
		return rc;
	c = lock->record->client;
	rc = dlki_client_begin(c, err);
	if (rc != 0)
		return rc;
	claim = claim_of(lock);
	if (c->backend->break_)
		rc = c->backend->break_(c->session, &claim,
					limit(c, timeout_ms), err);
	else
		rc = refuse(c, "break a lock", err);
	rc = dlki_reason(err, rc, c->uri->scheme);
	dlki_client_end(c);
	return rc;
}

int dlock_break(dlock_lock *lock, int64_t timeout_ms)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = break_lock(lock, timeout_ms, &err);

	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}

static int list(dlock_client *c,
		void (*each)(const struct dlock_entry *entry, void *arg),
		void *arg, int64_t timeout_ms, struct dlk_error *err)
{
	struct reports all = { NULL, &all.first, 0 };
	struct report *r;
	int rc;

	if (!c)
		return dlk_fail(err, DLOCK_EINVAL, "client is NULL");
	if (!each)
		return dlk_fail(err, DLOCK_EINVAL, "each is NULL");
	rc = dlki_client_begin(c, err);
	if (rc != 0)
		return rc;
	if (c->session->caps & DLOCK_CAP_LIST)
		rc = c->backend->list(c->session, collect_entry, &all,
				      limit(c, timeout_ms), err);
	else
		rc = refuse(c, "list its locks", err);
	rc = dlki_reason(err, rc, c->uri->scheme);
	dlki_client_end(c);
	if (rc == 0 && all.nomem)
		rc = dlki_nomem(err);
	for (r = take(&all); r; r = take(&all)) {
		if (rc == 0)
			each(&r->as.entry, arg);
		free(r);
	}
	return rc;
}

int dlock_list(dlock_client *client,
	       void (*each)(const struct dlock_entry *entry, void *arg),
	       void *arg, int64_t timeout_ms)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = list(client, each, arg, timeout_ms, &err);

	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}
