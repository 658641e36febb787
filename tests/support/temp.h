/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary directories.
 */
#ifndef DLOCK_TESTS_TEMP_H
#define DLOCK_TESTS_TEMP_H

#include <limits.h>

/* Makes a directory below $TMPDIR or /tmp.  Returns 0, or -1 and errno. */
int temp_make(char path[PATH_MAX]);

/* Removes the directory with all files; follows no links. */
void temp_remove(const char *path);

#endif
