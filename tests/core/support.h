/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the core share: opening the fake store, and closing it.
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

/* `t`, and for how long this process has stood still since stall_watch(): what
 * should be by then is looked for. */
dlk_time late(dlk_time t);

/* dlock_open() of a fake store, which must succeed. */
dlock_client *open_store(const char *uri, const dlock_options *opts);

/* dlock_close(), which must leave nothing and take `most_ms` at most; then no
 * rule of backend.h may have been broken. */
void close_store(dlock_client *client);
void close_within(dlock_client *client, int64_t most_ms);

#endif
