/* SPDX-License-Identifier: Apache-2.0 */
/* `dlock run` on an ensemble, whose leases promise less than a server's. */
#include "zk/three.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

TestSuite(zk_command, .timeout = 120);

/* The lease is renewed, so the command goes on, however long the grace. */
CASE(zk_command, outlives_its_first_renewals_with_any_grace)
{
	struct lab_ensemble *e = ensemble(NULL);
	char line[512];
	int status;

	snprintf(line, sizeof(line),
		 "'%s' run -u 'zk://127.0.0.1:%d/?ttl=6s&tick=100ms' "
		 "--signal-grace 6 n -- sleep 3; exit $?",
		 getenv("DLOCK_BIN"), e->node[lab_ensemble_follower(e)]->port);
	status = system(line);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), ==, 0);
}
