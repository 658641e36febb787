/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing of the fake store, and checks of return codes.
 */
#ifndef DLOCK_TESTS_CORE_SUPPORT_H
#define DLOCK_TESTS_CORE_SUPPORT_H

#include <criterion/criterion.h>
#include <stdatomic.h>

#include "core/base/clock.h"
#include "fake.h"
#include "support/case.h"
#include "support/diary.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/stall.h"
#include "support/taker.h"
#include "support/wait.h"

/* Checks that `rc` is `code`, and that the thread's last message contains
 * `text`. */
#define REFUSED(rc, code, text)                                               \
	do {                                                                  \
		int rc_ = (rc);                                               \
		cr_assert_eq(rc_, code, "%s, not %s: %s", dlock_errname(rc_), \
			     dlock_errname(code), dlock_errmsg());            \
		cr_assert(strstr(dlock_errmsg(), text) != NULL,               \
			  "'%s' does not say '%s'", dlock_errmsg(), text);    \
	} while (0)

/* Checks that the call was refused as invalid. */
#define INVALID(rc, text) REFUSED(rc, DLOCK_EINVAL, text)

#define OK(rc)                                                                \
	do {                                                                  \
		int rc_ = (rc);                                               \
		cr_assert_eq(rc_, DLOCK_OK, "%s: %s (%s)", #rc,               \
			     dlock_errname(rc_), dlock_errmsg());             \
	} while (0)

/* Defines name(): `value` of the client `c`, read with the client's mutex. */
#define PEEK(type, name, value)                                               \
	static type name(dlock_client *c)                                     \
	{                                                                     \
		type seen;                                                    \
		pthread_mutex_lock(&c->mu);                                   \
		seen = (value);                                               \
		pthread_mutex_unlock(&c->mu);                                 \
		return seen;                                                  \
	}

/* Begins an event function. */
#define ON_EVENT(name)                                                        \
	static void name(__attribute__((unused)) dlock_hold *about,           \
			 __attribute__((unused)) enum dlock_event event,      \
			 __attribute__((unused)) const char *why,             \
			 __attribute__((unused)) void *arg)

/* Starts a thread. */
pthread_t thread_begin(void *(*run)(void *), void *arg);

/* Returns `t`, moved by the stalls of this process since stall_watch() and by
 * the grace of a slow machine: the latest time for something due at `t`. */
dlk_time late(dlk_time t);

/* Opens a client of a fake store. */
dlock_client *open_store(const char *uri, const dlock_options *opts);

/* Closes the client, which must take at most `most_ms`, and checks that no call
 * has broken a rule of backend.h. */
void close_store(dlock_client *client);
void close_within(dlock_client *client, int64_t most_ms);

/* Has a waiter of the client the pump? */
int somebody_pumps(dlock_client *client);

#endif
