/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/worker.h"
#include "support/outcome.h"

#define TRIES 5

/* ---- URIs and clients ---------------------------------------------------- */

static int says(const char *uri, const char *param, size_t n)
{
	const char *at = strchr(uri, '?');

	for (; at; at = strchr(at, '&')) {
		at++;
		if (strncmp(at, param, n) == 0 && at[n] == '=')
			return 1;
	}
	return 0;
}

char *uri_with(const char *uri, const char *params)
{
	size_t room = strlen(uri) + strlen(params) + 2;
	char *out = malloc(room);
	const char *next;

	if (!out)
		FAIL("out of memory");
	snprintf(out, room, "%s", uri);
	for (; *params; params = next + (*next == '&')) {
		size_t used = strlen(out);

		next = params + strcspn(params, "&");
		if (says(uri, params, strcspn(params, "=")))
			continue;
		snprintf(out + used, room - used, "%c%.*s",
			 strchr(out, '?') ? '&' : '?', (int)(next - params),
			 params);
	}
	return out;
}

dlock_client *another_client(struct conform *t, const char *params,
			     const dlock_options *opts)
{
	char *uri = uri_with(t->uri, params ? params : "");
	dlock_client *c = NULL;

	CHECK_INT(t->n_clients, <, MOST_CLIENTS);
	face_open(&c, uri, opts);
	free(uri);
	t->clients[t->n_clients++] = c;
	outcomes_process(c);
	return c;
}

void forget_client(struct conform *t, dlock_client *client)
{
	for (int i = 0; i < t->n_clients; i++) {
		if (t->clients[i] == client)
			t->clients[i] = NULL;
	}
	if (t->client == client)
		t->client = NULL;
	outcomes_leave(client);
}

void close_client(struct conform *t, dlock_client *client)
{
	forget_client(t, client);
	close_face(client);
}

/* ---- Handles ------------------------------------------------------------- */

static dlock_lock *keep(struct conform *t, dlock_lock *lock)
{
	CHECK_INT(t->n_locks, <, MOST_LOCKS);
	t->locks[t->n_locks++] = lock;
	return lock;
}

dlock_lock *any_lock(struct conform *t, dlock_client *client, enum kind kind,
		     uint32_t permits, const char *name)
{
	dlock_lock *l = NULL;

	switch (kind) {
	case MUTEX:
		CHECK_OK(dlock_mutex_new(&l, client, name));
		break;
	case RWLOCK:
		CHECK_OK(dlock_rwlock_new(&l, client, name));
		break;
	case SEMAPHORE:
		CHECK_OK(dlock_semaphore_new(&l, client, name, permits));
		break;
	}
	face_knows(l, client, NULL);
	return keep(t, l);
}

dlock_lock *handle(struct conform *t, dlock_client *client)
{
	return any_lock(t, client, t->kind, t->permits, t->name);
}

dlock_lock *unbound(struct conform *t, dlock_client *client)
{
	dlock_lock *l = handle(t, client);

	CHECK_OK(dlock_lock_unbind(l));
	return l;
}

dlock_lock *multi(struct conform *t, dlock_lock *const members[], size_t n)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_multi_new(&l, members, n));
	face_knows(l, NULL, members[0]);
	return keep(t, l);
}

dlock_lock *upgradeable_of(dlock_lock *rwlock)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_upgradeable_new(&l, rwlock));
	face_knows(l, NULL, rwlock);
	return l;
}

dlock_lock *upgradeable(struct conform *t, dlock_lock *rwlock)
{
	return keep(t, upgradeable_of(rwlock));
}

static void use(struct conform *t, enum kind kind, uint32_t permits)
{
	t->kind = kind;
	t->permits = permits;
	t->lock = handle(t, t->client);
}

void use_mutex(struct conform *t)
{
	use(t, MUTEX, 0);
}

void use_unbound(struct conform *t)
{
	use_mutex(t);
	CHECK_OK(dlock_lock_unbind(t->lock));
}

void use_rwlock(struct conform *t)
{
	use(t, RWLOCK, 0);
}

void use_semaphore(struct conform *t, uint32_t permits)
{
	use(t, SEMAPHORE, permits);
}

/* ---- Requirements -------------------------------------------------------- */

void needs_other_processes(const struct conform *t)
{
	if (t->local)
		check_skip("the store is one process's alone");
}

void needs_break(const struct conform *t)
{
	dlock_lock *l = NULL;
	int rc;

	CHECK_OK(dlock_mutex_new(&l, t->client, "can it be broken?"));
	rc = dlock_break(l, patience_ms());
	dlock_lock_free(l);
	if (rc == DLOCK_ENOTSUP)
		check_skip("the store cannot break a lock");
	CHECK_OK(rc);
}

void use_short_lease(struct conform *t)
{
	close_client(t, t->client);
	t->client = another_client(t, SHORT_LEASE, NULL);
	t->ttl_ms = dlock_ttl_ms(t->client);
}

/* The granularity of leases: memcached may keep an item for up to three seconds
 * longer than the lease. */
static int64_t grain_ms(const struct conform *t)
{
	return strncmp(t->uri, "memcached", 9) == 0 ? 3000 : 0;
}

/* Without leases, the kernel tells of a death at once. */
int64_t promised_ms(const struct conform *t)
{
	return (t->ttl_ms > 0 ? t->ttl_ms + grain_ms(t) : 100) + 2 * slack_ms();
}

/* ---- Verbs --------------------------------------------------------------- */

dlock_hold *take(dlock_lock *lock)
{
	dlock_hold *h = NULL;

	CHECK_OK(acquire(lock, patience_ms(), &h));
	CHECK(h);
	CHECK_OK(dlock_check(h));
	return h;
}

int acquire_several(dlock_lock *l, uint32_t permits, int64_t timeout_ms,
		    dlock_hold **out)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.permits = permits;
	o.timeout_ms = timeout_ms;
	return acquire_opts(l, &o, out);
}

dlock_hold *take_several(dlock_lock *l, uint32_t permits)
{
	dlock_hold *h = NULL;

	CHECK_OK(acquire_several(l, permits, patience_ms(), &h));
	return h;
}

dlock_hold *take_shared(dlock_lock *lock)
{
	dlock_hold *h = NULL;

	CHECK_OK(acquire_shared(lock, patience_ms(), &h));
	CHECK(h);
	CHECK_OK(dlock_check(h));
	return h;
}

void give(dlock_hold *hold)
{
	CHECK_OK(release(hold));
}

int ask_for(dlock_lock *lock, int shared, int64_t timeout_ms, dlock_hold **h)
{
	int rc = DLOCK_EUNREACHABLE;

	for (int i = 0; i < TRIES && rc == DLOCK_EUNREACHABLE; i++) {
		rc = shared ? acquire_shared(lock, timeout_ms, h) :
			      acquire(lock, timeout_ms, h);
		if (timeout_ms != 0)
			break;
	}
	return rc;
}

int ask_to_upgrade(dlock_lock *lock, dlock_hold *hold, int64_t timeout_ms,
		   dlock_hold **h)
{
	int rc = DLOCK_EUNREACHABLE;

	for (int i = 0; i < TRIES && rc == DLOCK_EUNREACHABLE; i++) {
		rc = upgrade_by(lock, hold, timeout_ms, h);
		if (timeout_ms != 0)
			break;
	}
	return rc;
}

dlock_hold *upgrade(dlock_lock *lock, dlock_hold *hold)
{
	dlock_hold *h = NULL;

	CHECK_OK(ask_to_upgrade(lock, hold, patience_ms(), &h));
	CHECK(h);
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_check(hold));
	return h;
}

void refused(dlock_lock *lock)
{
	dlock_hold *mark = (dlock_hold *)(void *)lock;
	dlock_hold *h = mark;

	CHECK_RC(ask_for(lock, 0, 0, &h), DLOCK_EBUSY);
	CHECK(h == mark);
}

void refused_shared(dlock_lock *lock)
{
	dlock_hold *mark = (dlock_hold *)(void *)lock;
	dlock_hold *h = mark;

	CHECK_RC(ask_for(lock, 1, 0, &h), DLOCK_EBUSY);
	CHECK(h == mark);
}

static int64_t releases_take_ms;

void releases_are_as_in(const char *uri)
{
	releases_take_ms = strstr(uri, "release=async") ? 2000 : 0;
}

int64_t at_once_ms(void)
{
	return releases_take_ms;
}

void is_free(dlock_lock *lock)
{
	dlock_hold *h = NULL;

	CHECK_OK(ask_for(lock, 0, at_once_ms(), &h));
	give(h);
}

struct dlock_stats stats_of(dlock_client *client)
{
	struct dlock_stats s = { .size = sizeof(s) };

	CHECK_OK(dlock_get_stats(client, &s));
	return s;
}

static uint64_t waiters(struct conform *t)
{
	uint64_t n = 0;

	for (int i = 0; i < t->n_clients; i++) {
		if (t->clients[i])
			n += stats_of(t->clients[i]).waiters;
	}
	for (struct worker *p = t->workers; p; p = p->next) {
		if (p->control >= 0)
			n += (uint64_t)ask_beside(p, WAITERS, 0).count;
	}
	return n;
}

int comes_to_wait(struct conform *t, struct worker *p, unsigned int n)
{
	int64_t end = now_ms() + patience_ms();
	uint64_t seen;

	while ((seen = waiters(t)) != n) {
		if (p && !quiet(p))
			return 0;
		if (now_ms() > end)
			FAIL("%llu wait, not %u", (unsigned long long)seen, n);
		nap_ms(1);
	}
	return 1;
}

void await_waiters(struct conform *t, unsigned int n)
{
	(void)comes_to_wait(t, NULL, n);
}

void has_free(dlock_lock *l, uint32_t limit, uint32_t held)
{
	struct dlock_permits n = { .size = sizeof(n) };

	CHECK_OK(dlock_semaphore_permits(l, &n, patience_ms()));
	CHECK_INT(n.size, ==, sizeof(n));
	CHECK_INT(n.limit, ==, limit);
	CHECK_INT(n.held, ==, held);
	CHECK_INT(n.free, ==, limit > held ? limit - held : 0);
}

uint32_t held_permits(dlock_lock *l)
{
	struct dlock_permits n = { .size = sizeof(n) };

	CHECK_OK(dlock_semaphore_permits(l, &n, patience_ms()));
	return n.held;
}

void set_limit(dlock_lock *l, uint32_t permits)
{
	CHECK_OK(dlock_semaphore_resize(l, permits, patience_ms()));
}
