/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the core share: opening the fake store, threads that
 * acquire, events that are recorded, waiting for a condition.
 */
#ifndef DLOCK_TESTS_CORE_SUPPORT_H
#define DLOCK_TESTS_CORE_SUPPORT_H

#include <criterion/criterion.h>
#include <stdatomic.h>

#include "core/clock.h"
#include "fake.h"
#include "support/locks.h"
#include "support/stall.h"

/* Wait for `cond`; fail when it has not come true within 10 s. */
#define EVENTUALLY(cond)                                                      \
	do {                                                                  \
		dlk_time limit_ = dlk_now() + 10000 * DLKI_MS;                \
		while (!(cond) && dlk_now() < limit_)                         \
			nap_ms(1);                                            \
		cr_assert(cond, "not within 10 s: %s", #cond);                \
	} while (0)

/* `rc` is `code`, and the thread's last message has `text` in it. */
#define REFUSED(rc, code, text)                                               \
	do {                                                                  \
		int rc_ = (rc);                                               \
		cr_assert_eq(rc_, code, "%s, not %s: %s", dlock_errname(rc_), \
			     dlock_errname(code), dlock_errmsg());            \
		cr_assert(strstr(dlock_errmsg(), text) != NULL,               \
			  "'%s' does not say '%s'", dlock_errmsg(), text);    \
	} while (0)

#define OK(rc)                                                                \
	do {                                                                  \
		int rc_ = (rc);                                               \
		cr_assert_eq(rc_, DLOCK_OK, "%s: %s (%s)", #rc,               \
			     dlock_errname(rc_), dlock_errmsg());             \
	} while (0)

void nap_ms(int64_t ms); /* tests/support/wait.c */

/* `t`, and for how long this process has stood still since stall_watch(): what
 * should be by then is looked for. */
dlk_time late(dlk_time t);

/* dlock_open() of a fake store, which must succeed. */
dlock_client *open_store(const char *uri, const dlock_options *opts);

/* dlock_close(), which must leave nothing and take `most_ms` at most; then no
 * rule of backend.h may have been broken. */
void close_store(dlock_client *client);
void close_within(dlock_client *client, int64_t most_ms);

dlock_hold *take(dlock_lock *lock);
struct dlock_stats stats(dlock_client *client);

/* An acquire in a thread of its own, which also releases if told to. */
struct taker {
	pthread_t thread;
	dlock_lock *lock;
	int shared, keep;
	atomic_int linger;   /* releases when this is 0 */
	int64_t timeout_ms;
	dlock_hold *hold;
	int rc, release_rc;
	dlk_time done_at;
	atomic_int done;     /* the acquire is */
};

void taker_start(struct taker *t, dlock_lock *lock, int64_t timeout_ms);
int taker_join(struct taker *t); /* the acquire's answer */

/* Events as they came; hand `diary` over as dlock_options.arg. */
struct diary {
	pthread_mutex_t mu;
	int n;
	struct {
		dlock_hold *hold;
		enum dlock_event event;
		dlk_time at;
		int check; /* what dlock_check() said at the time */
		char why[120];
	} page[64];
	int logs;
	char log[4096];          /* all lines, one after the other */
};

#define DIARY_INIT { .mu = PTHREAD_MUTEX_INITIALIZER }

void write_event(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *diary);
void write_log(int level, const char *text, void *diary);
int diary_count(struct diary *d, enum dlock_event event);
dlock_options diary_options(struct diary *d);

#endif
