/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of ZooKeeper's language: see language_zk.c. */
#ifndef DLOCK_TESTS_SIM_REQUEST_ZK_H
#define DLOCK_TESTS_SIM_REQUEST_ZK_H

#include "sim/language.h"

enum { CLOSE_XID = 50, PING_XID = -2, AUTH_XID = -4, EVENT_XID = -1 };

/* A session is three of the marks' texts: the number, and the password's
 * halves.  The last text is the node of the case. */
enum { SESSION_TEXTS = 3, CASE_TEXT = MARK_TIMES - 1 };

/* Appends the bytes of the request in the line. */
void zk_request(const struct marks *m, struct sim_bytes *out, const char *line);

#endif
