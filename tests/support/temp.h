/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories that go with the test.
 */
#ifndef DLOCK_TESTS_TEMP_H
#define DLOCK_TESTS_TEMP_H

#include <limits.h>

/* Make one below $TMPDIR or /tmp.  0, or -1 and errno. */
int temp_make(char path[PATH_MAX]);

/* Remove it and everything in it; follows no links. */
void temp_remove(const char *path);

#endif
