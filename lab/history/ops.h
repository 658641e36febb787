/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: an acquire and all records that belong to the acquire.  For the
 * checker, and for timelines.
 */
#ifndef DLOCK_LAB_OPS_H
#define DLOCK_LAB_OPS_H

#include "lab/history/check.h"
#include "lab/history/history.h"

#define LAB_NEVER INT64_MAX /* of a time: did not happen */

struct lab_op {
	const struct lab_record *asked;
	uint64_t id;
	int64_t invoked;
	int64_t claimed;   /* when the claim's first hold was asked for */
	int64_t returned;
	int64_t until;     /* the lease as last known */
	int64_t lost;      /* the first time that LOST was noted */
	int64_t release;   /* called */
	int64_t released;  /* returned */
	int64_t killed;    /* the process */
	int64_t said_ok;   /* dlock_check(), the last time; 0: never */
	int64_t was_over;  /* when release found the lease to be over; 0: no */
	int64_t end;       /* of the promise: half open, [returned, end) */
	uint64_t token;
	uint64_t holder;   /* the same for a hold and the holds beside it */
	uint32_t lock;     /* which of lab_ops.locks */
	uint32_t limit;
	uint32_t permits;
	uint32_t pid;
	uint32_t tid;
	int32_t rc;        /* of the acquire */
	int32_t release_rc;
	uint8_t mode;
	bool granted;      /* returned, with DLOCK_OK */
	bool stale;        /* the claim was wiped before the request */
	bool paired;       /* a hold beside another, or with another beside */
	uint32_t lost_count;
};

struct lab_lock { /* a name and a kind */
	const char *name;
	size_t first; /* the lock's operations are ops[first .. first +
		       * count) */
	size_t count;
};

struct lab_span { /* LAB_WIPED; or a pause, or the end, of process `pid` */
	int64_t begin;
	int64_t end;
	uint32_t pid;
	bool surely;
	const char *name;
};

struct lab_ops {
	const struct lab_check *check;
	struct lab_verdict *verdict;
	const struct lab_record *records;
	size_t nrecords;
	struct lab_op *ops; /* sorted by lock, then by `invoked` */
	size_t nops;
	struct lab_lock *locks;
	size_t nlocks;
	struct lab_span *wipes;
	size_t nwipes;
	struct lab_span *pauses; /* sorted by pid and begin */
	size_t npauses;
	struct lab_span *deaths; /* likewise */
	size_t ndeaths;
};

/* Fill in the operations; ill-formed histories are found here.  -1: no
 * memory. */
int lab_ops_build(struct lab_ops *o);
void lab_ops_free(struct lab_ops *o);

/* Find the holds without a request: fill in `claimed`.  -1: no memory. */
int lab_ops_chain(struct lab_ops *o);

/* Apply the faults of processes and of the store: fill in the spans, and from
 * these `killed` and `end` of all operations.  -1: no memory. */
int lab_ops_apply_faults(struct lab_ops *o);

/* The earliest end of the promise, a wiped store left aside. */
int64_t lab_op_given_up(const struct lab_op *op);

/* Return the first wipe that the hold has surely suffered, or NULL: a hold
 * granted before the wipe began, and not given up by then, is gone. */
const struct lab_span *lab_op_surely_wiped(const struct lab_ops *o,
					   const struct lab_op *op);

/* Return for how much of the interval the process has not stood still. */
int64_t lab_awake_for(const struct lab_ops *o, uint32_t pid, int64_t from,
		      int64_t to);

/* Return when the process has run for `ns` nanoseconds since `from`, all in
 * all; if the process stands still just then, when it goes on. */
int64_t lab_awake(const struct lab_ops *o, uint32_t pid, int64_t from,
		  int64_t ns);

/* Whether the hold excludes all others: of a mutex, a writer, a single
 * permit. */
bool lab_op_exclusive(const struct lab_op *op);

/* Return pointers to the lock's granted operations, by token, then by call.
 * NULL: no memory.  Free with free(). */
struct lab_op **lab_granted(const struct lab_ops *o,
			    const struct lab_lock *lock, size_t *count);

/* Return the operation in words, for a violation.  Static, per thread, four at
 * a time. */
const char *lab_op_text(const struct lab_ops *o, const struct lab_op *op);

/* Count a violation, and keep the words of the first. */
__attribute__((format(printf, 3, 4))) void
lab_violation(struct lab_verdict *v, enum lab_rule rule, const char *format,
	      ...);

/* The rules.  -1: no memory. */
int lab_check_overlap(struct lab_ops *o, const struct lab_lock *lock);
int lab_check_tokens(struct lab_ops *o, const struct lab_lock *lock);
int lab_check_linear(struct lab_ops *o, const struct lab_lock *lock);
int lab_check_writes(struct lab_ops *o);
void lab_check_losses(struct lab_ops *o);
void lab_check_wipes(struct lab_ops *o);

#endif
