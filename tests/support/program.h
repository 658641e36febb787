/* SPDX-License-Identifier: Apache-2.0 */
/* Another program of the tests, run to the end. */
#ifndef DLOCK_TESTS_PROGRAM_H
#define DLOCK_TESTS_PROGRAM_H

/* Runs argv[0], below DLOCK_TEST_DIR if without a slash.  Returns the exit
 * code, 128 + the signal that ended the program, or 2, with a line on standard
 * error, if the program cannot be run. */
int run_program(char *argv[]);

#endif
