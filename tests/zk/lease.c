/* SPDX-License-Identifier: Apache-2.0 */
/* When the lease begins, and a session too short for an ensemble: the error
 * depends on the probe of the servers. */
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

/* A new name takes two round trips with a write each.  Had the lease begun with
 * the attempt, it would be over a ttl after that. */
CASE(zk_lease, of_a_long_attempt_begins_with_the_last_proof)
{
	struct lab_proxy *p = proxy(shared_server());
	dlock_client *c = client(lab_proxy_port(p), "?ttl=4s");
	int64_t begun, left;
	dlock_hold *h;

	taken(mutex(c, "lock"));
	lab_proxy_delay(p, LAB_DOWN, 500);
	begun = now_ms();
	h = take(mutex(c, "another"), PATIENCE);
	left = dlock_remaining_ms(h);
	CHECK_INT(left + now_ms() - begun, >, dlock_ttl_ms(c));
	CHECK_OK(dlock_release(h));
}
