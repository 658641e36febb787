/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the command: the real binary, started as a person would, in a
 * directory of each test's own.
 */
#ifndef DLOCK_TESTS_CMD_SUPPORT_H
#define DLOCK_TESTS_CMD_SUPPORT_H

#include <stdint.h>
#include <sys/types.h>

#include "support/wait.h"

#define DEADLINE_MS 20000 /* nothing here takes that long */

/* Fixtures: make the directory, point DLOCK_URI into it, be there, and remove
 * it.  What was started dies with the test. */
void world_begin(void);
void world_end(void);

/* Where the locks are, and a file beside them; the second is overwritten by
 * the fourth next call. */
/* Add `parameter` to the URI of the store that is named by default. */
void set_parameter(const char *parameter);

const char *lock_dir(void);
const char *file_path(const char *name);

/* The path of a helper program, and of a store in a shared object; the latter
 * is overwritten by the second next call. */
const char *helper(const char *name);
const char *module(const char *name);

/* Make a file of this content. */
void write_file(const char *path, const char *text, mode_t mode);

/* A process; its output goes to files. */
struct proc {
	pid_t pid;
	int number;
};

/* What became of one. */
struct result {
	int code;  /* exit code; -N: signal N killed it; -1000: it hung */
	char *out; /* both end in a NUL and last as long as the test */
	char *err;
};

/* Start a program without input; argv ends in NULL.  NULL for argv[0] is
 * dlock. */
void start(struct proc *p, const char *const argv[]);
struct result finish(const struct proc *p);
struct result finish_within(const struct proc *p, int64_t ms);

/* What it has printed so far; wait until standard error has such a line. */
char *output(const struct proc *p);
char *errors(const struct proc *p);
void await_error(const struct proc *p, const char *line);

/* start() and finish(). */
struct result run(const char *const argv[]);

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define DLOCK(...) run(ARGS(NULL, __VA_ARGS__))
#define START(p, ...) start(p, ARGS(NULL, __VA_ARGS__))

/* The content of a file, "" if there is none; lasts as long as the test. */
char *slurp(const char *path);

/* Wait until `path` has a line that starts with `line`. */
void await_line(const char *path, const char *line);
int has_line(const char *text, const char *line);

/* Start `dlock run -- sigchild FILE mode` and wait until that is ready; its
 * pid.  `options` are those of `dlock run`, ends in NULL. */
pid_t start_sigchild(struct proc *p, const char *file, const char *mode,
		     const char *name, const char *const options[]);

int alive(pid_t pid); /* and no zombie */

/* Skip the case unless we are root, and other users may run our dlock. */
void needs_other_users(void);

#endif
