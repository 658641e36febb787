/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that lies: it passes everything on to a real one until it is told
 * what to say instead.
 */
#ifndef DLOCK_TESTS_HOSTILE_H
#define DLOCK_TESTS_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

#include "lab/servers/server.h"

struct hostile;

/* `s` may be NULL: then a client that is not lied to gets no answer.  A failure
 * fails the test.  A CASE() frees it when it ends. */
struct hostile *hostile_start(const struct lab_server *s);
int hostile_port(const struct hostile *h);
void hostile_free(struct hostile *h);

/* From now on a request that contains `match` is answered with these bytes and
 * goes no further.  NULL: any request; `^match`: one that begins with it.
 * bytes NULL: the truth again. */
void hostile_say(struct hostile *h, const char *match, const void *bytes,
		 size_t len);

/* From now on it is as if packets were lost: a client that connects hears
 * nothing, not even that it is refused; clients that are connected are
 * dropped. */
void hostile_vanish(struct hostile *h);

/* How many lies were told. */
uint64_t hostile_lies(struct hostile *h);

#endif
