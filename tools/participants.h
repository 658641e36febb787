/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holders and waiters of a lock, fetched and described.
 */
#ifndef DLOCK_TOOLS_PARTICIPANTS_H
#define DLOCK_TOOLS_PARTICIPANTS_H

#include "options.h"
#include "print.h"

#include <dlock/dlock.h>

struct participant {
	char *label, *id;
	uint64_t token;
	int64_t remaining_ms;
	int64_t since_ms; /* of the hold; see since.h */
	int shared, waiting;
	uint32_t permits, limit; /* of a semaphore: the participant's; all */
};

struct participants { /* zeroed: empty */
	struct participant *list;
	size_t count, room;
	int failed; /* out of memory on the way */
};

/* 0 or an exit code with a message; to be freed in either case. */
int participants_fetch(struct participants *p, dlock_lock *lock,
		       const struct options *o);
void participants_free(struct participants *p);

/* Keep the first `count` only. */
void participants_cut(struct participants *p, size_t count);

/* Do as participants_fetch(), without messages: a DLOCK_E code. */
int participants_ask(struct participants *p, dlock_lock *lock,
		     int64_t wait_ms);

size_t participants_holders(const struct participants *p);

/* Report the permits of the semaphore.  0: no participant here has or wants
 * any. */
int participants_permits(const struct participants *p,
			 struct dlock_permits *out);

/* Say of each holder: "VERB by LABEL since THEN (AGE)". */
void participants_tell(const struct participants *p, const char *verb);

/* Whether `one`, of another report, is a holder here. */
int participants_have(const struct participants *p,
		      const struct participant *one);

/* STATE, SIDE, SINCE, TOKEN, LEFT, ID, LABEL. */
void participant_row(struct table *t, const struct participant *p);

/* These answer NULL if memory runs out. */
json_t *participants_array(const struct participants *p);
json_t *permits_json(const struct dlock_permits *n);
json_t *participants_json(const struct participants *p, const char *name,
			  const struct options *o);

/* "lock", "semaphore". */
const char *kind_name(enum kind kind);

/* How long an operator's command waits for the store: by -w, or 5 s. */
int64_t ask_ms(const struct options *o);

#endif
