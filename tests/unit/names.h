/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resolver with the faults that tests need.  It knows these names, and passes
 * other names to the system:
 *   slow.test    answers 127.0.0.1 once names_go_on() was called
 *   tired.test   answers 127.0.0.1 the first time, and 127.0.0.2 after that,
 *                once names_go_on() was called
 *   flaky.test   answers 127.0.0.1 the first time, and then does not answer
 *   pair.test    127.0.0.2, then 127.0.0.1
 *   absent.test, and every name with that in it: there is no such host
 *   mute.test    the name service does not answer
 *   full.test    no descriptor is left
 *   unread.test  the same, and the C library takes the name for absent
 */
#ifndef DLOCK_TESTS_NAMES_H
#define DLOCK_TESTS_NAMES_H

#include <dlock/backend.h>
#include <stdint.h>

dlk_time names_until(int64_t ms); /* `ms` from now */

void names_go_on(void);

int names_asked(void); /* counts the names, not the addresses */

#endif
