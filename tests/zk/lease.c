/* SPDX-License-Identifier: Apache-2.0 */
/* When the lease begins, and a session too short for an ensemble: the error
 * depends on the probe of the servers. */
#include "backends/zk/lease.h"

#include <criterion/criterion.h>

#include "backends/zk/call.h"
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

static void answer(struct zk_session *s, dlk_time sent, int passed, int agreed)
{
	const struct zk_call call = { .sent = sent };

	dlki_zk_lease_answered(s, &call, passed, agreed);
}

/* Neither of a connection nor of four requests does the lease begin with an
 * answer: all answers come now. */
CASE(zk_lease, begins_with_a_request)
{
	struct zk_session s = { .tick_ms = 100, .lease.timeout_ms = 4000 };
	dlk_time now = dlk_now(), asked = now - 400 * DLK_MS;

	dlki_zk_lease_begin(&s, asked);
	for (int i = 0; i < 2; i++, asked += 100 * DLK_MS) {
		dlki_zk_lease_connected(&s);
		answer(&s, asked + 100 * DLK_MS, 1, 1);
		CHECK(s.lease.proved == asked);
	}
	asked = now - 100 * DLK_MS;
	answer(&s, asked, 0, 0);
	now = dlk_now();
	answer(&s, now + 100 * DLK_MS, 1, 0);
	answer(&s, now + 200 * DLK_MS, 1, 0);
	answer(&s, now + 300 * DLK_MS, 1, 1);
	CHECK(s.lease.proved == asked);
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
	CHECK_INT(left, <=, dlock_ttl_ms(c) - 500); /* no answer comes sooner */
	CHECK_INT(left + now_ms() - begun, >, dlock_ttl_ms(c));
	CHECK_OK(dlock_release(h));
}
