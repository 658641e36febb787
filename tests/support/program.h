/* SPDX-License-Identifier: Apache-2.0 */
/* Another program of the tests, run to its end. */
#ifndef DLOCK_TESTS_PROGRAM_H
#define DLOCK_TESTS_PROGRAM_H

/* Run argv[0], below DLOCK_TEST_DIR if it has no slash.  Its exit code; 128 and
 * the signal that ended it; 2 if it cannot be run, said on standard error. */
int run_program(char *argv[]);

#endif
