/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories: what processes did with locks, and when, written down as it
 * happens, to be judged afterwards (lab/history/check.h).
 *
 * Each process appends to a file of its own in a common directory.  A record is
 * one write(2), so that a process that is killed leaves whole records.  Times
 * are lab_now(): one clock for all processes of a host.
 *
 * When to call what matters.  The beginning of a promise is noted after the
 * library gave it, its end before it is given up: then what is noted never
 * reaches further than what was promised, and an overlap that is found is one.
 * Note the outermost acquire and release of a re-entrant lock only.
 *
 * A recorder may be used by all threads of the process.  Recording never fails
 * visibly: lab_history_close() tells.
 */
#ifndef DLOCK_LAB_HISTORY_H
#define DLOCK_LAB_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LAB_NAME 40

/* What was asked for.  A semaphore never meets a lock of its name. */
enum lab_mode {
	LAB_MUTEX,
	LAB_WRITE, /* the sides of a read-write lock */
	LAB_READ,
	LAB_PERMIT /* of a semaphore */
};

enum lab_what {
	LAB_ACQUIRE = 1, /* called: mode, limit, value = timeout_ms */
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
	LAB_KILLED,      /* value = pid; it is dead */
	LAB_WIPED,       /* the store lost what it held, between value and at */
	LAB_LEFT,        /* after the end: value things are in the store */
	LAB_NOTE         /* anything, in `name` */
};

struct lab_record {
	int64_t at;
	uint64_t op; /* ties a hold's records together; 0: none */
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

/* Right before an acquire.  Names are cut at LAB_NAME - 3 bytes.  The number
 * answered stands for the hold in all that follows. */
uint64_t lab_history_acquire(struct lab_history *h, const char *name,
			     enum lab_mode mode, uint32_t limit,
			     int64_t timeout_ms);

/*
 * The end of a lease, for what follows: `asked` is lab_now() from *before* the
 * call of dlock_remaining_ms() that gave `remaining_ms`.  A worker that is
 * stopped in between must not take the lease to be longer.  0: it is over,
 * since when is not known.
 */
int64_t lab_until(int64_t asked, int64_t remaining_ms);

/* Right after it.  `rc` is the library's code; the rest counts if it is 0. */
void lab_history_acquired(struct lab_history *h, uint64_t op, int rc,
			  uint64_t token, int64_t until);

/* While it is held: how long the lease has come to last.  The more often, the
 * more precise are verdicts on holders that are killed, and on lateness. */
void lab_history_until(struct lab_history *h, uint64_t op, int64_t until);

/* dlock_check() was called not before `asked`, and has answered `rc`. */
void lab_history_checked(struct lab_history *h, uint64_t op, int64_t asked,
			 int rc);

/* First thing in the callback that says LOST. */
void lab_history_lost(struct lab_history *h, uint64_t op);

/* Right before and after a release. */
void lab_history_release(struct lab_history *h, uint64_t op, int64_t until);
void lab_history_released(struct lab_history *h, uint64_t op, int rc);

/* A write was offered to the resource `name`: see lab/history/resource.h. */
struct lab_written;
void lab_history_wrote(struct lab_history *h, uint64_t op, const char *name,
		       uint64_t token, const struct lab_written *verdict);

/* Called by what injects the fault.  PAUSED once the process stands still,
 * RESUMED before it goes on, KILLED once it is dead. */
void lab_history_process(struct lab_history *h, enum lab_what what, pid_t pid);

/*
 * The store lost what it held, at some moment from `begin` to now; of the lock
 * `name`, or of all locks if that is "".  `surely`: nothing of before `begin`
 * has survived.
 */
void lab_history_wiped(struct lab_history *h, const char *name, int64_t begin,
		       bool surely);

/* When all is over: how much of `name` is left in the store. */
void lab_history_left(struct lab_history *h, const char *name, int64_t count);

__attribute__((format(printf, 2, 3))) void
lab_history_note(struct lab_history *h, const char *format, ...);

/*
 * All records of all files in `dir`, in the order of each file, files one after
 * another.  A last record that is not whole is left out.  Free with free().
 */
int lab_history_load(const char *dir, struct lab_record **records,
		     size_t *count);

/* One record in words, for people. */
void lab_record_print(const struct lab_record *r, char *out, size_t size);

#endif
