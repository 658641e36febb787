/* SPDX-License-Identifier: Apache-2.0 */
/* `dlock run` on an ensemble, which promises less of its leases than others. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/servers/ensemble.h"
#include "lab/base/fail.h"

TestSuite(zk_command, .timeout = 120);

/* However early it wants to be told: nothing ends a command whose lease is
 * renewed. */
Test(zk_command, outlives_its_first_renewals_with_any_grace)
{
	struct lab_ensemble *e = lab_ensemble_start(NULL);
	char uri[128], *said = NULL;
	int status;

	if (!e)
		FAIL("%s", lab_errmsg());
	snprintf(uri, sizeof(uri), "zk://127.0.0.1:%d/?ttl=6s&tick=100ms",
		 e->node[lab_ensemble_follower(e)]->port);
	CHECK(asprintf(&said,
		       "'%s' run -u '%s' --signal-grace 6 n -- sleep 3; "
		       "exit $?",
		       getenv("DLOCK_BIN"), uri) > 0);
	status = system(said);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), ==, 0);
	free(said);
	lab_ensemble_free(e);
}
