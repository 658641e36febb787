/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that lies: a proxy of a real server, with false answers on demand.
 */
#ifndef DLOCK_TESTS_HOSTILE_H
#define DLOCK_TESTS_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

#include "lab/servers/server.h"

struct hostile;

/* Starts a proxy of `s`.  Without `s`, a request without a lie has no answer.
 * A CASE() frees the proxy at the end. */
struct hostile *hostile_start(const struct lab_server *s);
int hostile_port(const struct hostile *h);
void hostile_free(struct hostile *h);

/* Answers each request that contains `match` with these bytes, and does not
 * pass the request on.  NULL: any request; `^match`: a request that begins with
 * `match`.  bytes NULL: ends the lie. */
void hostile_say(struct hostile *h, const char *match, const void *bytes,
		 size_t len);

/* Behaves from now on as if packets were lost: a connect has no answer, not
 * even a refusal, and open connections end. */
void hostile_vanish(struct hostile *h);

/* Counts the lies told. */
uint64_t hostile_lies(struct hostile *h);

#endif
