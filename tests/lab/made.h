/* SPDX-License-Identifier: Apache-2.0 */
/* Histories made by hand. Times are milliseconds; 0 is never. */
#ifndef DLOCK_TESTS_LAB_MADE_H
#define DLOCK_TESTS_LAB_MADE_H

#include "lab/history/check.h"

#include <stdlib.h>

#define SCALE INT64_C(1000000)

struct made {
	const char *name; /* NULL: "a" */
	enum lab_mode mode;
	unsigned limit;
	unsigned permits; /* 0: 1 */
	unsigned beside;  /* number of the hold of the read side */
	unsigned pid;     /* 0: index in the table, plus 1 */
	int asked;
	int got;
	int rc;           /* of the acquire */
	unsigned token;
	int until;        /* 0: 100000; -1: over */
	int again;        /* when the lease was looked at */
	int until2;       /* the end seen then; -1: over */
	int lost;
	int lost2;
	int checked;      /* dlock_check() returned OK */
	int release;
	int over;         /* the lease was over at the release */
	int released;
	int release_rc;
};

struct story { /* records in the making */
	struct lab_record *records;
	size_t count;
	size_t room;
};

static inline void tell(struct story *s, struct lab_record r)
{
	if (s->count == s->room) {
		s->room = 2 * s->room + 64;
		s->records = realloc(s->records, s->room * sizeof(r));
		if (!s->records)
			abort();
	}
	s->records[s->count++] = r;
}

static inline void tell_at(struct story *s, const struct lab_record *base,
			   enum lab_what what, int64_t at, int64_t until,
			   int rc)
{
	struct lab_record r = *base;

	if (!at)
		return;
	r.what = (uint8_t)what;
	r.at = at;
	r.until = until;
	r.rc = rc;
	tell(s, r);
}

/* Tell an operation's records, in the usual order of writing. */
void tell_made(struct story *s, const struct made *m, unsigned number);

#endif
