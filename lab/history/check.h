/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts on histories (lab/history/history.h): did the locks keep the
 * promise?
 *
 * A hold's *promise interval* goes from the return of the acquire to the
 * earliest of: the call of release; the delivery of LOST; the end of the lease,
 * as last known; the death of the process.  The rules:
 *
 *   SHAPE    the history is well-formed: no answer without a call, and so on
 *   OVERLAP  promise intervals of conflicting holds of a lock never overlap:
 *            two of a mutex; a writer and anybody; more permits than there are.
 *            A hold does not conflict with the holds beside it
 *   TOKEN    each hold has a token, larger than the token of every conflicting
 *            hold that was over before, and unique where holds conflict.  A
 *            hold without a request, of a claim that the store has lost
 *            meanwhile, is as old as the claim
 *   LINEAR   some order of the acquires and releases of a lock, each at a
 *            moment between call and return, explains all answers.  Tokens
 *            order the conflicting holds, so one pass decides.  Does not apply
 *            to semaphores of several permits, nor to holds beside another
 *   WRITER   a resource that checks tokens accepted no token smaller than an
 *            accepted token, and refused smaller tokens only
 *   LOST     at most once per hold, never after the release, and at the end of
 *            the lease; no dlock_check() says OK after LOST; a hold that the
 *            store has surely lost is found in time
 *   LEFT     the store is empty in the end
 *
 * The checks take O(n log n), and some 400 bytes an operation.
 */
#ifndef DLOCK_LAB_CHECK_H
#define DLOCK_LAB_CHECK_H

#include "lab/history/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_RULES(X)                                                          \
	X(SHAPE) X(OVERLAP) X(TOKEN) X(LINEAR) X(WRITER) X(LOST) X(LEFT)

enum lab_rule {
#define X(name) LAB_RULE_##name,
	LAB_RULES(X)
#undef X
	LAB_NRULES
};

struct lab_check { /* zeroed: the usual checks */
	bool no_tokens;      /* the store has no tokens: no TOKEN, LINEAR,
			      * WRITER */
	int64_t slack_ns;    /* LOST may be so late; 0: 50 ms.  A pause of the
			      * process is not counted. */
	int64_t found_ns;    /* a wiped hold is LOST so soon; 0: not asked */
	uint64_t skipped;    /* so many holds of a claim may be without a
			      * record, one after another: members of a
			      * multi-lock that was not granted */
};

#define LAB_WORDS 8
#define LAB_UNTOLD (-1)

struct lab_verdict {
	uint64_t violations; /* all of them */
	uint64_t broken[LAB_NRULES];
	uint64_t overlaps[LAB_MODES]; /* by the mode of the later hold */
	uint64_t late; /* of LOST's: violations that depend on time alone */
	size_t nwords; /* of the first violations */
	char words[LAB_WORDS][960];

	uint64_t records;
	uint64_t acquires;
	uint64_t granted;
	uint64_t busy;        /* answered EBUSY */
	uint64_t unreachable; /* ... or EUNREACHABLE */
	uint64_t unanswered;  /* never returned */
	uint64_t lost;        /* holds */
	uint64_t released;
	uint64_t empty;       /* granted when the lease was over already */
	uint64_t locks;
	uint64_t accepted;    /* writes */
	uint64_t refused;
	uint64_t wiped;       /* holds that the store has surely lost */
	int64_t late_ns;      /* the latest LOST after its lease; < 0: before */
	int64_t found_ns;     /* the longest time from a wipe to LOST, less the
			       * pauses of the process; LAB_UNTOLD: no LOST */
};

/* "OVERLAP" */
const char *lab_rule_name(enum lab_rule rule);

/*
 * Judge records; the records of an operation are in order.  `what` may be NULL.
 * 0: `verdict` is filled in, good or bad; -1: out of memory.
 */
int lab_check_records(const struct lab_record *records, size_t count,
		      const struct lab_check *what,
		      struct lab_verdict *verdict);

/* The same for all files of a directory. */
int lab_check_dir(const char *dir, const struct lab_check *what,
		  struct lab_verdict *verdict);

/* Write the verdict in some lines of text. */
void lab_verdict_print(const struct lab_verdict *v, char *out, size_t size);

#endif
