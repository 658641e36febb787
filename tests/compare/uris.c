/* SPDX-License-Identifier: Apache-2.0 */
/* Stores by URI: a store is judged by the capabilities declared, also if the
 * user started the servers. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "compare/drive.h"
#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "lab/servers/zookeeper.h"

TestSuite(compare_uris, .init = drive_init, .timeout = 120);

/* A store may round times. */
static void is_not_accused(struct lab_server *s, const char *scheme)
{
	struct lab_findings *f;
	char uri[160];

	cr_assert(s, "%s", lab_errmsg());
	snprintf(uri, sizeof(uri), "%s://127.0.0.1:%d/", scheme, s->port);
	f = drive_uri(uri, "exclusion,holder-killed,timed-wait,try");
	for (size_t b = 0; b < f->n_scenarios; b++) {
		const struct lab_finding *c = lab_finding(f, 0, b);

		cr_expect(c->outcome != LAB_OUTCOME_LIE &&
				  c->outcome != LAB_OUTCOME_BROKEN,
			  "%s, %s: %s", uri, f->scenarios[b].id, c->why);
		/* The same of a first try, which a busy machine was blamed for;
		 * unless the server gave no answer at all. */
		cr_expect(!strstr(c->why, "was not granted") ||
				  strstr(c->why, "no answer in time"),
			  "%s, %s: %s", uri, f->scenarios[b].id, c->why);
	}
	/* A store not built in is trouble. */
	if (!*f->stores[0].trouble)
		drive_is(f, f->stores[0].name, "holder-killed",
			 LAB_OUTCOME_KEPT);
	lab_findings_free(f);
	lab_server_free(s);
}

Test(compare_uris, memcached)
{
	is_not_accused(lab_memcached_start(NULL), "memcached");
}

/* The server grants no lease below two ticks. */
Test(compare_uris, zookeeper)
{
	static const struct lab_zk_options o = { .tick_ms = 1000 };

	is_not_accused(lab_zk_start(&o), "zk");
}
