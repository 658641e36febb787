/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name may be that of a lock and that of a semaphore, which have nothing to
 * do with each other.  Each is the namesake of the other, and a person who
 * takes one for the other is to be told.
 */
#ifndef DLOCK_TOOLS_NAMESAKE_H
#define DLOCK_TOOLS_NAMESAKE_H

#include "participants.h"
#include "store.h"

/*
 * Add the holders and waiters of the namesake of what the options mean by
 * `name`: none if the store has no such lock, or cannot say.
 */
void namesake_fetch(struct participants *p, const struct store *s,
		    const struct options *o, const char *name);

/* "semaphore" if the options mean the lock; or the reverse. */
const char *namesake_kind(const struct options *o);

#endif
