/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers among which an engine of the rig looks for home.
 */
#ifndef TESTS_LOOP_HOMES_H
#define TESTS_LOOP_HOMES_H

#include "tests/loop/rig.h"

/* h.test leads to these ports; `other` may be 0. */
void named(uint16_t port, uint16_t other);

/* ... and the engine is about to look; and `port` is home. */
void begin(uint16_t port, uint16_t other);
void begin_at_home(uint16_t port);

/* Let time pass until socket `sock` is there; it leads to this port. */
void await(int sock, uint16_t port);

/* The server at socket `sock` says hello, and the engine acts on it. */
void greet(int sock, uint16_t port, const char *hello);
void refuse(int sock, uint16_t port, int error);

/* The connection has stood long enough to be made again at once. */
void lose(int sock);

void expect_down(int times, const char *why);
void expect_up(int times, int moves);

#endif
