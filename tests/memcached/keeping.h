/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy that keeps its clients' connections when the server behind them goes,
 * as mcrouter and twemproxy do: the next request takes a new connection to
 * whatever listens there then, and the client does not notice.
 */
#ifndef DLOCK_TESTS_MEMCACHED_KEEPING_H
#define DLOCK_TESTS_MEMCACHED_KEEPING_H

#include "lab/servers/server.h"

struct keeping;

/* What does not succeed fails the test. */
struct keeping *keeping_start(const struct lab_server *s);
struct lab_address keeping_address(const struct keeping *k);
void keeping_free(struct keeping *k);

/* How often a client's connection went on with another one to the server. */
int keeping_changed(struct keeping *k);

#endif
