/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TESTS_FORKED_H
#define DLOCK_TESTS_FORKED_H

/* Calls `run` in a forked child, and returns the result, or 128 + the signal
 * that ended the child: SIGALRM after 20 s. */
int in_forked_child(int (*run)(void));

#endif
