/* SPDX-License-Identifier: Apache-2.0 */
/* file: no server and no lease; a hold ends with the process. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "chaos/chaos.h"
#include "lab/base/fail.h"

static int start_file(struct chaos *c, const char *query)
{
	for (int i = 0; i < 2; i++) {
		int n = snprintf(c->uri[i], sizeof(c->uri[i]),
				 "file://%s/store%s", c->dir, query);

		if (n < 0 || n >= (int)sizeof(c->uri[i]))
			return lab_fail("TMPDIR is too long");
	}
	return 0;
}

const struct chaos_store chaos_file = {
	.name = "file",
	.match = "",
	.start = start_file,
	.faults = { chaos_process_faults },
};
