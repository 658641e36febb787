/* SPDX-License-Identifier: Apache-2.0 */
#include "support/temp.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

int temp_make(char path[PATH_MAX])
{
	const char *base = getenv("TMPDIR");

	snprintf(path, PATH_MAX, "%s/dlock-XXXXXX",
		 base && base[0] ? base : "/tmp");
	return mkdtemp(path) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void temp_remove(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
