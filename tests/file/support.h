/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared pieces of the file store's tests. Checks are those of support/check.h:
 * the first failed check ends the process, and a process that waits for that
 * process fails, too.
 */
#ifndef DLOCK_TESTS_FILE_SUPPORT_H
#define DLOCK_TESTS_FILE_SUPPORT_H

#include <dlock/dlock.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "support/case.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/opening.h"
#include "support/taker.h"

/* Make a directory for a store, mode 0700, removed with the test run's
 * directory. store_dir() makes the only directory of the process. */
void store_make(char dir[PATH_MAX]);
const char *store_dir(void);

/* Memory shared by the processes of a case: a new store, the pid of the case's
 * process, and zeroes for the case's use. */
struct scene {
	char dir[PATH_MAX];
	pid_t test;
	atomic_int ready, stop;
	atomic_int held, waits, granted;
	atomic_int reading;
	atomic_int other; /* a pid */
	_Atomic uint64_t token;
};
struct scene *scene(void);

/* Open the store. `query` has no '?', or is NULL. A CASE() closes the
 * client. */
dlock_client *store_open(const char *dir, const char *query);

/* Return the file of the lock ("l") or semaphore ("s") `name`, of letters and
 * digits. */
const char *store_file(const char *dir, const char *kind, const char *name);

/* Return the largest token in the file of the lock "x". Open for writing: a
 * read-only open and close would announce a waiter. */
uint64_t stored_token(const char *dir);

/* Acquire, check that the token is larger than `last`, release, and return the
 * token. */
uint64_t token_after(uint64_t last, dlock_lock *l);

/* An open must fail with `code` and mention `part`. */
void store_refused(const char *uri, int code, const char *part);

/* Return zeroed memory that children share; never freed. */
void *shared(size_t size);

/* Run in a forked child, which exits with 0 if `run` returns, and dies with
 * this process. Fork before a client is open: sanitizers support no fork of
 * threads. */
pid_t child(void (*run)(void *arg), void *arg);
/* Wait for the child's exit with 0. */
void child_ended(pid_t pid);
/* Kill the child, and wait until the child is dead. */
void child_kill(pid_t pid);

/* If not 0, the system call fails with this errno. */
extern atomic_int fail_pwrite, fail_inotify, fail_watch;
/* New watches see no event, as of clients on other hosts. */
extern atomic_int deaf_watches;
/* Delay a call of inotify_rm_watch(), counted from now. */
extern atomic_int slow_unwatch;
#define SLOW_MS 300
/* The next larger pwrite() writes only so many bytes, and returns the
 * number. */
extern atomic_int short_pwrite;
/* The next pread() of so many bytes meets a write, and reads half of it. */
extern atomic_int torn_pread;
/* Calls of fsync(), fdatasync() and inotify_init1(). */
extern atomic_int fsyncs, fdatasyncs, inotify_inits;
/* called by pwrite() */
extern void (*before_pwrite)(void);
/* called by unlink() */
extern void (*before_unlink)(void), (*after_unlink)(void);
/* called by renameat(), as a break does */
extern void (*before_rename)(void);
/* called by inotify_add_watch() */
extern void (*before_watch)(void);
/* called by close() */
extern void (*before_close)(void);
/* The wall clock is behind by so much. */
extern atomic_int clock_back_s;

#endif
