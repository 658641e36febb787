/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the file store share.  Checks are those of
 * support/check.h: the first that fails ends its process, and a process
 * that waits for that one fails too.
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
#include "support/taker.h"

/* A directory for a store, mode 0700; removed with the test run's.  The second
 * is the process's only one. */
void store_make(char dir[PATH_MAX]);
const char *store_dir(void);

/* What the processes of a test share: a store that is made, the test's own
 * process, and zeroes, which mean what the test takes them for. */
struct scene {
	char dir[PATH_MAX];
	pid_t test;
	atomic_int ready, stop;
	atomic_int held, waits, granted;
	atomic_int reading, inside;
	atomic_int other; /* a pid */
};
struct scene *scene(void);

/* Open it; `query` without its '?', or NULL.  A CASE() closes it behind it. */
dlock_client *store_open(const char *dir, const char *query);

/* The file of the lock ("l") or semaphore ("s") called `name`, which is of
 * letters and digits. */
const char *store_file(const char *dir, const char *kind, const char *name);

/* Opening must fail with `code` and mention `part`. */
void store_refused(const char *uri, int code, const char *part);

/* Bytes that children see too, zeroed; never freed. */
void *shared(size_t size);

/* Run in a forked child, which ends with 0 if `run` returns.  Before a client
 * is opened: a sanitizer does not like to be forked with threads.  It dies with
 * us. */
pid_t child(void (*run)(void *arg), void *arg);
/* Wait until it ended well. */
void child_ended(pid_t pid);
/* SIGKILL it, and wait until it is dead. */
void child_kill(pid_t pid);

/* System calls that fail instead, with this errno, when not 0. */
extern atomic_int fail_pwrite, fail_inotify, fail_watch;
/* So many calls of inotify_rm_watch() from now, one begins late. */
extern atomic_int slow_unwatch;
#define SLOW_MS 300
/* The next pwrite() of more than this writes only so much, and says so. */
extern atomic_int short_pwrite;
/* unlink() calls them. */
extern void (*before_unlink)(void), (*after_unlink)(void);
/* The clock on the wall is so much behind. */
extern atomic_int clock_back_s;

#endif
