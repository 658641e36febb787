/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libgit2, which shows how two values differ that Criterion's new
 * assertions compare: no test uses these.  The real one loads sixteen libraries
 * and reads the system's certificates in each process, and every case is one.
 */
#include <stdlib.h>

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

int git_libgit2_init(void)
{
	return 1;
}

int git_libgit2_shutdown(void)
{
	return 0;
}

int git_diff_buffers(void)
{
	abort();
}
