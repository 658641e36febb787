/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock with two places among the members, under two URIs: 127.0.0.1 and
 * localhost, a socket and a port, a directory and a symbolic link.  Such a
 * multi-lock is in the way of itself.
 */
#ifndef DLOCK_CORE_MULTI_TWICE_H
#define DLOCK_CORE_MULTI_TWICE_H

#include "core/multi_hold.h"

struct dlki_member;

/*
 * The findings of a wait.  A holder with the token of a claim in `m` may be
 * chance: two stores grant in the same microsecond.  Tokens rise, so chance
 * does not strike again and again, each time with a new token.
 */
struct dlki_multi_twice {
	uint64_t token; /* of the last holder found */
	unsigned int seen;
};

/*
 * Check whether the lock of `busy`, after a failed try, is a lock in `m`: 1
 * after some such tries, and `err` is EINVAL and names both URIs.  Asks the
 * store of `busy` for the lock's holders if `m` has a lock of the same kind and
 * name, until an answer shows two different locks.  0 without an answer within
 * `ask`, and on a store without DLOCK_CAP_INSPECT.
 */
int dlki_multi_twice(struct dlki_multi_twice *twice,
		     const struct dlki_multi_hold *m, struct dlki_member *busy,
		     struct dlk_error *err);

#endif
