/* SPDX-License-Identifier: Apache-2.0 */
/* Three nodes, of which one goes. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "lab/ensemble.h"
#include "lab/fail.h"

TestSuite(zk_ensemble, .timeout = 180);

static struct lab_ensemble *ensemble(void)
{
	struct lab_ensemble *e = lab_ensemble_start(NULL);

	if (!e)
		FAIL("%s", lab_errmsg());
	return e;
}

static dlock_client *client_of_all(const struct lab_ensemble *e,
				   const char *params)
{
	dlock_client *c = NULL;
	char uri[256];

	snprintf(uri, sizeof(uri),
		 "zk://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/%s",
		 e->node[0]->port, e->node[1]->port, e->node[2]->port, params);
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

/* Holds and waiters live through the death of any node. */
Test(zk_ensemble, a_hold_survives_its_leader)
{
	struct lab_ensemble *e = ensemble();
	dlock_client *a = client_of_all(e, "?ttl=20s&ask=2s");
	dlock_client *b = client_of_all(e, "?ttl=20s&ask=2s");
	dlock_lock *mine = mutex(a, "lock"), *theirs = mutex(b, "lock");
	uint64_t token = 0;

	for (int i = 0; i < 3; i++) {
		dlock_hold *h = take(mine, FOREVER);
		struct waiter w;
		int leader;

		CHECK_INT(dlock_token(h), >, token);
		token = dlock_token(h);
		waiter_start(&w, theirs, FOREVER);
		EVENTUALLY(stats(b).waiters == 1);
		leader = lab_ensemble_leader(e);
		CHECK_INT(leader, >=, 0);
		CHECK_INT(lab_server_kill(e->node[leader]), ==, 0);
		EVENTUALLY(lab_ensemble_leader(e) >= 0);
		CHECK_OK(dlock_check(h));
		EVENTUALLY(stats(b).waiters == 1 && !w.over);
		dlock_release(h);
		CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
		CHECK_INT(lab_server_restart(e->node[leader], true), ==, 0);
		CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	}
	CHECK_INT(stats(a).lost, ==, 0);
	dlock_close(a);
	dlock_close(b);
	lab_ensemble_free(e);
}

/* Two nodes of three are gone: nobody is granted what nobody agreed on. */
Test(zk_ensemble, a_minority_grants_nothing)
{
	struct lab_ensemble *e = ensemble();
	dlock_client *a = client_of_all(e, "?ttl=2s&close=500ms");
	dlock_lock *l = mutex(a, "lock");
	dlock_hold *h = take(l, PATIENCE), *none = NULL;
	int leader = lab_ensemble_leader(e);

	CHECK_INT(lab_server_pause(e->node[leader]), ==, 0);
	CHECK_INT(lab_server_kill(e->node[(leader + 1) % LAB_NODES]), ==, 0);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_RC(dlock_acquire(l, 1000, &none), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_resume(e->node[leader]), ==, 0);
	CHECK_INT(lab_server_restart(e->node[(leader + 1) % LAB_NODES], true),
		  ==, 0);
	CHECK_INT(lab_ensemble_wait(e, 30000), ==, 0);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
	dlock_close(a);
	lab_ensemble_free(e);
}
