/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence for a lease in an ensemble: how many writes a lease takes, and
 * how old the evidence may be. */
#include "zk/three.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(zk_evidence, .timeout = 180);

/* Each write of the ensemble raises the number. */
static int64_t zxid(struct lab_server *s)
{
	char reply[2048];
	const char *at;

	if (lab_zk_word(s, "srvr", reply, sizeof(reply)) != 0)
		FAIL("%s", lab_errmsg());
	at = strstr(reply, "\nZxid: 0x");
	CHECK(at);
	return strtoll(at + strlen("\nZxid: "), NULL, 16);
}

CASE(zk_evidence, is_one_write_for_a_renewal_and_none_for_an_idle_client)
{
	struct lab_ensemble *e = ensemble(NULL);
	struct lab_server *leader = e->node[lab_ensemble_leader(e)];
	struct lab_server *follower = e->node[lab_ensemble_follower(e)];
	dlock_client *c = client(follower->port, "?ttl=3s&tick=100ms&ask=2s");
	dlock_hold *h = take(mutex(c, "lock"), PATIENCE);
	uint64_t renewed = stats(c).renewed, renewals;
	int64_t before = zxid(leader), writes, asked;

	EVENTUALLY(stats(c).renewed >= renewed + 6);
	/* The next may be under way. */
	writes = zxid(leader) - before;
	renewals = stats(c).renewed + stats(c).renew_failed - renewed;
	CHECK_INT(writes, <=, (int64_t)renewals + 1);
	CHECK_OK(dlock_release(h));
	before = zxid(leader);
	asked = lab_zk_number(follower, "srvr", "Received");
	nap_ms(2 * dlock_ttl_ms(c));
	/* The server removes the directory, which is empty. */
	CHECK_INT(zxid(leader) - before, <=, 1);
	/* Some rounds of three, and this case's request. */
	CHECK_INT(lab_zk_number(follower, "srvr", "Received") - asked, >, 6);
	CHECK_INT(lab_zk_number(follower, "srvr", "Received") - asked, <, 40);
}

/* Each request of an idle client's round waits for the answer to the last, so
 * behind slow round trips the evidence is old.  A try asks for more. */
CASE(zk_evidence, is_awaited_by_a_try)
{
	struct lab_proxy *p;
	dlock_client *c = slow_client(&p, "?ttl=4s&tick=100ms&ask=4s", 240);
	dlock_lock *l = mutex(c, "lock");

	for (int i = 0; i < 3; i++) {
		uint64_t up = lab_proxy_stat(p, LAB_UP_CHUNKS);
		dlock_hold *h = NULL;

		EVENTUALLY(lab_proxy_stat(p, LAB_UP_CHUNKS) >= up + 6);
		CHECK_OK(dlock_acquire(l, 0, &h));
		CHECK_OK(dlock_release(h));
	}
}
