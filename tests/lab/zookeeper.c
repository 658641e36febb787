/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/ensemble.h"
#include "lab/servers/zookeeper.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(zookeeper, .timeout = 60);

static int leads(void *arg)
{
	return lab_ensemble_leader(arg) >= 0;
}

Test(zookeeper, a_bad_configuration_is_told)
{
	struct lab_zk_options o = { .config = "tickTime=never\n" };

	cr_expect_null(lab_zk_start(&o));
	cr_expect(strstr(lab_errmsg(), "ended"), "%s", lab_errmsg());
}

Test(zookeeper, an_ensemble_survives_its_leader)
{
	struct lab_ensemble *e = lab_ensemble_start(NULL);
	int leader, next;

	cr_assert(e, "%s", lab_errmsg());
	leader = lab_ensemble_leader(e);
	cr_assert_geq(leader, 0, "%s", lab_errmsg());
	cr_expect_geq(lab_ensemble_follower(e), 0);
	cr_assert_eq(lab_server_kill(e->node[leader]), 0);
	cr_assert_eq(lab_wait_until(lab_after_ms(20000), leads, e), 1);
	next = lab_ensemble_leader(e);
	cr_expect_neq(next, leader);
	cr_assert_eq(lab_server_restart(e->node[leader], true), 0, "%s",
		     lab_errmsg());
	cr_expect_eq(lab_ensemble_wait(e, 20000), 0, "%s", lab_errmsg());
	lab_ensemble_free(e);
}
