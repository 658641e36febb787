/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires with options: end, lease, label, permits. */
#include <string.h>

#include "conform/cases.h"
#include "conform/worker.h"

static dlock_acquire_options with(void)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = patience_ms();
	return o;
}

static dlock_hold *take_so(dlock_lock *lock, const dlock_acquire_options *o)
{
	dlock_hold *h = NULL;

	CHECK_OK(acquire_opts(lock, o, &h));
	return h;
}

/* The hold ends by itself, not before `least_ms`, and another client gets the
 * lock. */
static void ends(struct conform *t, dlock_hold *h, int64_t begun,
		 int64_t least_ms)
{
	struct worker *p = join(t, OTHER_CLIENT);

	CHECK_INT(dlock_remaining_ms(h), <=, least_ms);
	tell(p, ACQUIRE, -1);
	HEAR_OK(p);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_INT(now_ms() - begun, >=, least_ms - 1);
	EVENTUALLY(is_readable(dlock_hold_fd(h), 0));
	CHECK_RC(release(h), DLOCK_ELOST);
	CHECK_TEXT(face_errmsg(), t->name);
	ASK_OK(p, CHECK_HOLD, 0);
}

/* The other client may have to wait for the end of the lease. */
void case_opts_no_renew(struct conform *t)
{
	dlock_acquire_options o = with();
	int64_t begun;

	use_mutex(t);
	give(take(t->lock));
	o.no_renew = 1;
	o.lease_ms = 1000;
	begun = now_ms();
	ends(t, take_so(t->lock, &o), begun, 1000);
}

static int stands(const dlock_hold *h, int64_t most_ms)
{
	CHECK_OK(dlock_check(h));
	CHECK_INT(dlock_remaining_ms(h), <=, most_ms);
	return 1;
}

void case_opts_lease(struct conform *t)
{
	dlock_acquire_options o = with();
	struct worker *p;
	dlock_hold *h;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	o.lease_ms = t->ttl_ms > 0 && t->ttl_ms < 1500 ? t->ttl_ms : 1500;
	h = take_so(t->lock, &o);
	if (t->ttl_ms == 0)
		CHECK_INT(dlock_remaining_ms(h), ==, -1);
	ALL_ALONG(o.lease_ms * 2, stands(h, o.lease_ms));
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	give(h);
	ASK_OK(p, ACQUIRE, at_once_ms());
	CHECK_INT(stats_of(t->client).lost, ==, 0);
	if (t->ttl_ms > 0) {
		o.lease_ms = t->ttl_ms + 1;
		CHECK_RC(acquire_opts(t->lock, &o, &h), DLOCK_EINVAL);
	}
}

struct labels {
	const char *wanted;
	int found, begun, n;
};

static void look(const struct dlock_participant *p, void *arg)
{
	struct labels *l = arg;

	l->n++;
	l->found += strcmp(p->label, l->wanted) == 0;
	l->begun += strlen(p->label) >= 63 &&
		    !strncmp(p->label, l->wanted, strlen(p->label));
}

void case_opts_label(struct conform *t)
{
	static const char odd[] = "0 1 %s %n 'a' {b}";
	struct labels l = { .wanted = odd };
	dlock_acquire_options o = with();
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_hold *h;

	use_mutex(t);
	o.label = l.wanted;
	h = take_so(t->lock, &o);
	CHECK_OK(dlock_inspect(handle(t, c), look, &l, patience_ms()));
	CHECK_INT(l.found, ==, 1);
	CHECK_INT(l.n, ==, 1);
	give(h);
	h = take(t->lock);
	l = (struct labels){ .wanted = odd };
	CHECK_OK(dlock_inspect(handle(t, c), look, &l, patience_ms()));
	CHECK_INT(l.found, ==, 0);
	CHECK_INT(l.n, ==, 1);
	give(h);
}

/* Longer than any store takes a value. */
void case_opts_long_label(struct conform *t)
{
	static char much[2 << 20];
	struct labels l = { .wanted = much };
	dlock_acquire_options o = with();
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_hold *h;

	memset(much, 'x', sizeof(much) - 1);
	use_mutex(t);
	o.label = much;
	h = take_so(t->lock, &o);
	CHECK_OK(dlock_inspect(handle(t, c), look, &l, patience_ms()));
	CHECK_INT(l.begun, ==, 1);
	give(h);
}

void case_opts_readers(struct conform *t)
{
	dlock_acquire_options o = with();
	struct worker *p;
	int64_t begun;
	dlock_hold *h;

	use_rwlock(t);
	p = join(t, OTHER_CLIENT);
	ASK_OK(p, READ, at_once_ms());
	o.shared = 1;
	o.max_hold_ms = 300;
	begun = now_ms();
	h = take_so(t->lock, &o);
	ASK_OK(p, RELEASE, 0);
	ends(t, h, begun, 300);
}

void case_opts_permits(struct conform *t)
{
	dlock_acquire_options o = with();
	int64_t begun;

	use_semaphore(t, 1);
	o.max_hold_ms = 200;
	begun = now_ms();
	ends(t, take_so(t->lock, &o), begun, 200);
}
