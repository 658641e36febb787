/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of the program for each client without threads: polls and
 * processes. */
#ifndef DLOCK_TESTS_CONFORM_ATTENDING_H
#define DLOCK_TESTS_CONFORM_ATTENDING_H

#include <dlock/dlock.h>

void attending_begin(dlock_client *client);

/* Have the thread end, if there is one. */
void attending_end(dlock_client *client);

#endif
