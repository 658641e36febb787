/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TESTS_FORKED_H
#define DLOCK_TESTS_FORKED_H

/* Run it in a forked child.  The child's exit code is what it returns, or 128
 * and a signal: SIGALRM, after 20 s. */
int in_forked_child(int (*run)(void));

#endif
