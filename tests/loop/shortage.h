/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that fail: the linker leads malloc(), calloc() and realloc() of
 * the program here (tests/CMakeLists.txt).
 */
#ifndef DLOCK_TESTS_LOOP_SHORTAGE_H
#define DLOCK_TESTS_LOOP_SHORTAGE_H

/* Have this thread's n-th allocation from now fail; 0: no longer. */
void shortage_at(long n);

/* Has the allocation failed since? */
int shortage_came(void);

#endif
