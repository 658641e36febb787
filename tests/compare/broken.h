/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores with a planted bug each:
 *
 * steal:   as file:, but a release frees the lock of any holder
 * alone:   as file:, but a lock or a semaphore has one shared holder at most
 * unfair:  as file:, which has no order, and declares FAIR
 * late:    as redis:, but leases count from the answer
 */
#ifndef DLOCK_TESTS_COMPARE_BROKEN_H
#define DLOCK_TESTS_COMPARE_BROKEN_H

/* Make the schemes known, once a process. */
void broken_register(void);

#endif
