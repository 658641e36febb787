/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holders and waiters of a lock, fetched and described.
 */
#ifndef DLOCK_TOOLS_PARTY_H
#define DLOCK_TOOLS_PARTY_H

#include "options.h"
#include "print.h"

#include <dlock/dlock.h>

struct party {
	char *label, *id;
	uint64_t token;
	int64_t remaining_ms;
	int shared, waiting;
};

struct parties { /* zeroed: empty */
	struct party *list;
	size_t count, room;
	int failed; /* out of memory while it was filled */
};

/* 0 or an exit code with a message; to be freed in either case. */
int parties_fetch(struct parties *p, dlock_lock *lock,
		  const struct options *o);
void parties_free(struct parties *p);

/* STATE, SIDE, TOKEN, LEFT, ID, LABEL. */
void party_row(struct table *t, const struct party *p);

/* NULL: out of memory. */
json_t *parties_json(const struct parties *p, const char *name,
		     const struct options *o);

/* "mutex", "rwlock", "semaphore". */
const char *kind_name(enum kind kind);

/* What an operator's command waits for the store unless -w says otherwise. */
#define ASK_MS 5000

#endif
