/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of locks, in a thread; it speaks the lines of tests/loop/lines.h.
 *
 * The lower 8 bits of an attempt's ID are the lock, the next 8 the asking
 * worker.  R names a worker and a lock likewise, and takes the worker out of
 * the queue as well.  A granted lock is free again when the lease ends.
 * Every so often the server kills all connections, each other time by a reset.
 */
#ifndef TESTS_LOOP_STRESS_SERVER_H
#define TESTS_LOOP_STRESS_SERVER_H

#include <stdint.h>

enum { LOCKS = 3, WORKERS = 8, LEASE_MS = 1000, PUSHED_LEASE_MS = 500 };

/* Start; returns the port.  0 ms: no connection is killed. */
uint16_t server_start(int kill_every_ms);

/* How often all connections were killed so far. */
int server_kills(void);

/* Stop; returns how often all connections were killed. */
int server_stop(void);

#endif
