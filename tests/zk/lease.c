/* SPDX-License-Identifier: Apache-2.0 */
/* A session too short for an ensemble: the error depends on the probe of the
 * servers. */
#include "backends/zk/lease.h"

#include <criterion/criterion.h>

#include "backends/zk/session.h"
#include "core/base/clock.h"
#include "zk/support.h"

TestSuite(zk_lease, .timeout = 120);

static struct zk_session short_session(void)
{
	struct zk_session s = { .tick_ms = 2000, .lease.timeout_ms = 1000 };

	s.lease.proved = dlk_now() - 990 * DLK_MS;
	return s;
}

static int code_of(const struct zk_session *s)
{
	struct dlk_ticket t = { 0 };
	struct dlk_error err = { 0 };

	return dlki_zk_lease_suffices(s, &t, &err) ? DLOCK_OK : err.code;
}

/* Before the probe's answer the error is not the URI's ttl=. */
CASE(zk_lease, says_nothing_of_an_ensemble_that_it_does_not_know)
{
	struct zk_session s = short_session();

	CHECK_INT(code_of(&s), ==, DLOCK_EUNREACHABLE);
	s.probe.known = 1;
	CHECK_INT(code_of(&s), ==, DLOCK_EINVAL);
	s.probe.standalone = 1;
	CHECK_INT(code_of(&s), ==, DLOCK_EUNREACHABLE);
	s.lease.proved = dlk_now();
	CHECK_INT(code_of(&s), ==, DLOCK_OK);
}
