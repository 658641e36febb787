/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock and a semaphore of one name have no relation.  Each is the namesake of
 * the other, and a person who takes one for the other is to be told.
 */
#ifndef DLOCK_TOOLS_NAMESAKE_H
#define DLOCK_TOOLS_NAMESAKE_H

#include "participants.h"
#include "store.h"

/*
 * Add the holders and waiters of the namesake of the options' lock `name`, if
 * the store has such a lock and can say.
 */
void namesake_fetch(struct participants *p, const struct store *s,
		    const struct options *o, const char *name);

/*
 * Fail: the options' lock `name` is free, and `what` follows from that.
 * Say so if the namesake is held.
 */
int namesake_fail(const struct options *o, const struct store *s,
		  const char *name, const char *what);

/* "semaphore" if the options mean the lock; or the reverse. */
const char *namesake_kind(const struct options *o);

#endif
