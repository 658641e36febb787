/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that cannot be: on a client that closes, on a store that lacks a
 * feature, or with a handle of another sort. */
#include "core/calls.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dlock_config.h"
#include "support/fault.h"

TestSuite(refusals, .init = fixture, .timeout = 60);

/* ---- A client that closes ------------------------------------------------ */

static dlock_client *closing, *other;
static dlock_lock *m, *u, *s, *rw, *upg, *both;
static dlock_hold *held, *read_held;

static void given_closing(struct outcome *closed)
{
	dlock_lock *u2;

	other = closed_at_end(open_store("fake://other", NULL));
	closing = open_store("fakewant://closing?close=30s", NULL);
	m = mutex(closing, "m");
	u = unbound(closing, "u");
	s = semaphore(closing, "s", 2);
	rw = rwlock(closing, "rw");
	upg = upgradeable(rw);
	u2 = unbound(other, "u2");
	both = multi((dlock_lock *[]){ u, u2 }, 2);
	held = take(m);
	read_held = take(upg);
	FAKE_SCRIPT(fake_store("closing"), FAKE_CLOSE, .gate = 1);
	OK(dlock_close_start(closing, outcome_note, closed));
	EVENTUALLY(fake_count(fake_store("closing"), FAKE_CLOSE) == 1);
}

static void opens_gate(struct outcome *closed)
{
	fake_open_gate(fake_store("closing"));
	while (closed->calls == 0)
		OK(dlock_wait(closing, patience_ms()));
	OK(closed->rc);
	cr_assert_eq(dlock_release(held), DLOCK_ELOST);
	cr_assert_eq(dlock_release(read_held), DLOCK_ELOST);
}

CASE(refusals, of_a_client_that_closes_come_at_once)
{
	static struct outcome closed, never;
	struct dlock_permits permits = { .size = sizeof(permits) };
	dlock_hold *none = NULL;

	given_closing(&closed);
	{
		const int rc[] = {
			dlock_acquire(m, -1, &none),
			dlock_acquire(both, -1, &none),
			dlock_acquire_shared(rw, -1, &none),
			dlock_acquire_start(u, -1, outcome_note, &never, NULL),
			dlock_acquire_start(both, -1, outcome_note, &never,
					    NULL),
			dlock_revoke(m, -1),
			dlock_break(m, -1),
			dlock_inspect(m, count_participant, NULL, -1),
			dlock_inspect_start(m, count_participant, -1,
					    outcome_note, &never),
			dlock_list(closing, count_entry, NULL, -1),
			dlock_semaphore_permits(s, &permits, -1),
			dlock_semaphore_resize(s, 3, -1),
			dlock_close_start(closing, outcome_note, &never),
		};

		for (size_t i = 0; i < sizeof(rc) / sizeof(rc[0]); i++)
			cr_assert_eq(rc[i], DLOCK_ECANCELED, "call %zu: %s", i,
				     dlock_errname(rc[i]));
	}
	cr_assert_eq(dlock_upgrade(upg, read_held, -1, &none), DLOCK_ELOST);
	cr_assert_eq(dlock_revocable(held), DLOCK_ECANCELED);
	cr_assert_eq(dlock_extend(held, 1000), DLOCK_ELOST);
	cr_assert_null(none);
	cr_assert_eq(never.calls, 0);
	opens_gate(&closed);
}

/* ---- Stores that lack a feature ------------------------------------------ */

CASE(refusals, of_a_store_without_a_feature_name_it)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_lock *plain;

	given_semaphore("fake:", 3);
	o.permits = 2;
	REFUSED(dlock_acquire_opts(lock, &o, &hold), DLOCK_ENOTSUP,
		"cannot grant several permits at once");
	REFUSED(dlock_semaphore_resize(lock, 4, 1000), DLOCK_ENOTSUP,
		"change the number of permits");
	plain = mutex(client, "m");
	INVALID(dlock_acquire_opts(plain, &o, &hold),
		"only a semaphore has permits");
	o.permits = 4;
	INVALID(dlock_acquire_opts(lock, &o, &hold),
		"4 permits at once; it has 3 of them");
	INVALID(dlock_semaphore_resize(lock, 0, 1000),
		"0 permits; 1 is the least");
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 0);
}

CASE(refusals, to_count_permits_tell_why)
{
	struct dlock_permits permits = { .size = sizeof(permits) };
	struct dlock_permits old = { .size = 4 };
	struct taker t = { 0 };
	dlock_lock *all;

	given_semaphore("fake:", 1);
	all = multi(&lock, 1);
	INVALID(dlock_semaphore_permits(all, &permits, 0),
		"only a semaphore has permits");
	INVALID(dlock_semaphore_permits(NULL, &permits, 0), "lock is NULL");
	INVALID(dlock_semaphore_permits(lock, NULL, 0), "out is NULL");
	INVALID(dlock_semaphore_permits(lock, &old, 0), "dlock_permits.size");
	fake_once(fake, FAKE_INSPECT, FAKE_REFUSE);
	cr_assert_eq(dlock_semaphore_permits(lock, &permits, 1000),
		     DLOCK_EUNREACHABLE);
	/* A waiter has no permit. */
	hold = take(lock);
	taker_waits(&t, -1);
	OK(dlock_semaphore_permits(lock, &permits, 1000));
	cr_assert_eq(permits.held, 1);
	cr_assert_eq(permits.free, 0);
	OK(dlock_release(hold));
	OK(let_go(&t));
}

/* ---- Handles of another sort --------------------------------------------- */

CASE(refusals, of_a_hold_that_is_no_upgradeable_readers)
{
	dlock_hold *plain, *all, *none = NULL;
	dlock_lock *many;

	given_rwlock("fake:");
	upg = upgradeable(lock);
	many = multi(&lock, 1);
	plain = take(lock);
	all = take(many);
	hold = NULL;
	INVALID(dlock_upgrade(NULL, plain, 0, &none),
		"not of dlock_upgradeable_new()");
	INVALID(dlock_upgrade(lock, plain, 0, &none),
		"not of dlock_upgradeable_new()");
	INVALID(dlock_upgrade(many, all, 0, &none),
		"not of dlock_upgradeable_new()");
	INVALID(dlock_upgrade(upg, plain, 0, &none),
		"not of an upgradeable read side");
	INVALID(dlock_upgrade(upg, all, 0, &none),
		"not of an upgradeable read side");
	INVALID(dlock_upgrade(upg, NULL, 0, &none),
		"not of an upgradeable read side");
	OK(dlock_release(all));
	OK(dlock_release(plain));
}

/* ---- Memory and descriptors ---------------------------------------------- */

CASE(refusals, for_want_of_a_resource_change_nothing)
{
	static const struct {
		const char *call;
		int errnum, code;
	} faults[] = { { "eventfd", EMFILE, DLOCK_EEXHAUSTED },
		       { "eventfd", ENOMEM, DLOCK_ENOMEM } };

	given_client("fake:");
	for (size_t i = 0; i < 2; i++) {
		fault_in(faults[i].call, 1, faults[i].errnum);
		cr_assert_eq(dlock_client_fd(client), faults[i].code);
		cr_assert(fault_came());
	}
	cr_assert_geq(dlock_client_fd(client), 0);
}

/* Without memory for a call, an open or a close does not begin. */
CASE(refusals, for_want_of_memory_begin_no_call)
{
	static struct outcome never, opened;
	dlock_client *c = NULL;
	int rc = DLOCK_ENOMEM;

	given_client("fake:");
	fault_in("calloc", 1, ENOMEM);
	REFUSED(dlock_close_start(client, outcome_note, &never), DLOCK_ENOMEM,
		"memory");
	cr_assert(fault_came());
	for (int n = 1; rc == DLOCK_ENOMEM; n++) {
		fault_in("calloc", n, ENOMEM);
		rc = dlock_open_start("fake:", NULL, &c, outcome_note, &opened);
		cr_assert_eq(fault_came(), rc == DLOCK_ENOMEM);
		cr_assert_eq(opened.calls, 0);
	}
	OK(rc);
	dlock_close(c);
	cr_assert_eq(opened.calls, 1);
	cr_assert_eq(never.calls, 0);
}

/* Opens, waiting or not, and closes; returns the code of the open. */
static int opens(const char *uri, const dlock_options *opts, int waits)
{
	struct outcome opened = { 0 };
	dlock_client *c = NULL;
	int rc = waits ? dlock_open(&c, uri, opts) :
			 dlock_open_start(uri, opts, &c, outcome_note, &opened);

	cr_assert_eq(c != NULL, rc == DLOCK_OK);
	if (c && !waits) {
		EVENTUALLY(dlock_process(c, 0) >= 0 && opened.calls == 1);
		rc = opened.rc;
	}
	dlock_close(c);
	if (rc != DLOCK_OK && waits && strstr(dlock_errmsg(), "open files"))
		cr_assert_eq(rc, DLOCK_EEXHAUSTED, "%s", dlock_errmsg());
	return rc;
}

static int free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* The limit rises by a descriptor each time, until the open ends with
 * `code`. */
static void opens_with_more(const char *uri, int no_threads, int waits,
			    int code)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	rlim_t first = (rlim_t)free_descriptor();
	int rc = DLOCK_EEXHAUSTED;
	struct rlimit was, low;

	o.once = 1;
	o.no_threads = no_threads;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	low = was;
	for (low.rlim_cur = first;
	     rc == DLOCK_EEXHAUSTED && low.rlim_cur < first + 20;
	     low.rlim_cur++) {
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
		rc = opens(uri, &o, waits);
	}
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
	cr_assert_eq(rc, code, "%s: %s", uri, dlock_errname(rc));
	cr_assert_gt(low.rlim_cur, first + 3);
	cr_assert_eq(free_descriptor(), (int)first);
}

CASE(refusals, for_want_of_descriptors_open_no_client)
{
	for (int i = 0; i < 4; i++) {
		opens_with_more("mem:", i & 1, i & 2, DLOCK_OK);
#if DLOCK_HAVE_MEMCACHED
		/* No server has the socket. */
		opens_with_more("memcached+unix:///none/dlock.sock", i & 1,
				i & 2, DLOCK_EUNREACHABLE);
#endif
#if DLOCK_HAVE_ZK
		opens_with_more("zk://127.0.0.1:1", i & 1, i & 2,
				DLOCK_EUNREACHABLE);
#endif
	}
}
