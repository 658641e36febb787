/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories: the calls and results of processes that lock, with times, to be
 * judged afterwards (lab/history/check.h).
 *
 * Each process appends to a file of its own in a common directory.  A record is
 * one write(2), so a killed process leaves whole records.  Times are lab_now():
 * one clock for all processes of a host.
 *
 * The order of calls matters.  Note the beginning of a promise after the
 * library gave the promise, and the end before the program gives it up: then
 * the noted promise never reaches further than the real promise, and each
 * overlap found is real.  Note the outermost acquire and release of a
 * re-entrant lock only.
 *
 * All threads of the process may use a recorder.  Recording never fails
 * visibly: lab_history_close() reports errors.
 */
#ifndef DLOCK_LAB_HISTORY_H
#define DLOCK_LAB_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LAB_NAME 40

/* The mode of a request.  A semaphore never meets a lock of the same name. */
enum lab_mode {
	LAB_MUTEX,
	LAB_WRITE, /* the sides of a read-write lock */
	LAB_READ,
	LAB_PERMIT /* of a semaphore */
};
#define LAB_MODES 4

enum lab_what {
	LAB_ACQUIRE = 1, /* called: mode, limit, value = timeout_ms, rc =
			  * permits, token = the hold that it is beside */
	LAB_ACQUIRED,    /* returned: rc, token, until */
	LAB_UNTIL,       /* the lease as known now: until */
	LAB_CHECKED,     /* dlock_check(), called at `at`, returned: rc */
	LAB_LOST,        /* delivered */
	LAB_RELEASE,     /* called: until, as just before */
	LAB_RELEASED,    /* returned: rc */
	LAB_WROTE,       /* to the resource: token, rc 1 accepted, 0 refused;
			  * value = place, until = the largest token there */
	LAB_PAUSED,      /* value = pid; the process stands still */
	LAB_RESUMED,     /* value = pid */
	LAB_KILLED,      /* value = pid; the process is dead */
	LAB_WIPED,       /* the store lost claims, between value and at */
	LAB_LEFT,        /* after the end: value things are in the store */
	LAB_NOTE         /* anything, in `name` */
};

struct lab_record {
	int64_t at;
	uint64_t op; /* ties a hold's records together; or 0 */
	uint64_t token;
	int64_t until;
	int64_t value;
	int32_t rc;
	uint32_t pid;
	uint32_t tid;
	uint32_t limit;
	uint8_t what;
	uint8_t mode;
	char name[LAB_NAME - 2];
};

struct lab_history;

/* Begin a file of this process in `dir`. */
struct lab_history *lab_history_open(const char *dir);

/* -1: some record could not be written.  NULL is a no-op. */
int lab_history_close(struct lab_history *h);

/* Note an acquire, right before the call.  Names are cut at LAB_NAME - 3 bytes.
 * Returns the hold's number for the calls below. */
uint64_t lab_history_acquire(struct lab_history *h, const char *name,
			     enum lab_mode mode, uint32_t limit,
			     int64_t timeout_ms);

/* Note the acquire of several permits of a semaphore. */
uint64_t lab_history_permits(struct lab_history *h, const char *name,
			     uint32_t limit, uint32_t permits,
			     int64_t timeout_ms);

/* Note the acquire of the other side of a read-write lock by the holder of
 * `beside`.  The two holds do not exclude each other. */
uint64_t lab_history_beside(struct lab_history *h, const char *name,
			    enum lab_mode mode, uint64_t beside,
			    int64_t timeout_ms);

/*
 * Compute the end of a lease, for the calls below: `asked` is lab_now() from
 * *before* the call of dlock_remaining_ms() that gave `remaining_ms`.  So a
 * worker stopped in between does not overrate the lease.  0: the lease is over,
 * since an unknown time.
 */
int64_t lab_until(int64_t asked, int64_t remaining_ms);

/* Note the return of the acquire.  `rc` is the library's code; the other
 * arguments count if `rc` is 0. */
void lab_history_acquired(struct lab_history *h, uint64_t op, int rc,
			  uint64_t token, int64_t until);

/* Note the lease's new end during the hold.  The more often, the more precise
 * are verdicts on killed holders, and on lateness. */
void lab_history_until(struct lab_history *h, uint64_t op, int64_t until);

/* dlock_check() was called not before `asked`, and has answered `rc`. */
void lab_history_checked(struct lab_history *h, uint64_t op, int64_t asked,
			 int rc);

/* Note LOST, first thing in the callback. */
void lab_history_lost(struct lab_history *h, uint64_t op);

/* Right before and after a release. */
void lab_history_release(struct lab_history *h, uint64_t op, int64_t until);
void lab_history_released(struct lab_history *h, uint64_t op, int rc);

/* A write was offered to the resource `name`: see lab/history/resource.h. */
struct lab_written;
void lab_history_wrote(struct lab_history *h, uint64_t op, const char *name,
		       uint64_t token, const struct lab_written *verdict);

/* Note a fault, from the thread that injects the fault.  PAUSED once the
 * process stands still, RESUMED before the process goes on, KILLED once it is
 * dead. */
void lab_history_process(struct lab_history *h, enum lab_what what, pid_t pid);

/*
 * Note that the store lost claims, at some moment from `begin` to now; of the
 * lock `name`, or of all locks if `name` is "".  `surely`: no claim from before
 * `begin` has survived.
 */
void lab_history_wiped(struct lab_history *h, const char *name, int64_t begin,
		       bool surely);

/* When all is over: how much of `name` is left in the store. */
void lab_history_left(struct lab_history *h, const char *name, int64_t count);

__attribute__((format(printf, 2, 3))) void
lab_history_note(struct lab_history *h, const char *format, ...);

/*
 * Load all records of all files in `dir`, in the order of each file, files in
 * turn.  An incomplete last record is left out.  Free with free().
 */
int lab_history_load(const char *dir, struct lab_record **records,
		     size_t *count);

/* Write a record in words. */
void lab_record_print(const struct lab_record *r, char *out, size_t size);

#endif
