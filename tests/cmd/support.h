/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the command: run the real binary as a person would, each test in a
 * new directory.
 */
#ifndef DLOCK_TESTS_CMD_SUPPORT_H
#define DLOCK_TESTS_CMD_SUPPORT_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/wait.h"

#define DEADLINE_MS 20000 /* no test takes so long */

/* Fixtures: make the directory, set DLOCK_URI, and change to the directory;
 * remove the directory. Processes of the test die with the test. */
void world_begin(void);
void world_end(void);

/* Return the directory of the locks, or a file beside the directory. Four later
 * calls overwrite the path. */
const char *lock_dir(void);
const char *file_path(const char *name);

/* Add `parameter` to $DLOCK_URI. */
void set_parameter(const char *parameter);

/* Return the path of a helper program, or of a store in a shared object. Two
 * later calls of module() overwrite the path. */
const char *helper(const char *name);
const char *module(const char *name);

/* Make a file with this content. */
void write_file(const char *path, const char *text, mode_t mode);

/* A process with output to files. */
struct proc {
	pid_t pid;
	int number;
};

/* The end of a process. */
struct result {
	int code;  /* exit code; -N: killed by signal N; -1000: did not end */
	char *out; /* NUL-terminated, valid until the test ends */
	char *err;
};

/* Start a program without input; argv ends in NULL. A NULL argv[0] is dlock. */
void start(struct proc *p, const char *const argv[]);
struct result finish(const struct proc *p);
struct result finish_within(const struct proc *p, int64_t ms);

/* Return the output so far; wait for a line of standard error. */
char *output(const struct proc *p);
char *errors(const struct proc *p);
void await_error(const struct proc *p, const char *line);

/* start() and finish(). */
struct result run(const char *const argv[]);

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* A shell line, in which dlock is "$0". */
#define SH(line) ARGS("/bin/sh", "-c", line, getenv("DLOCK_BIN"))
#define DLOCK(...) run(ARGS(NULL, __VA_ARGS__))
/* The same, and the exit code must be 0. */
#define OK(...) succeeded(DLOCK(__VA_ARGS__))
struct result succeeded(struct result r);

#define START(p, ...) start(p, ARGS(NULL, __VA_ARGS__))

/* Parse JSON, or fail. Free with json_decref(). */
json_t *parse(const char *text);

/* Return the text of a member of `object`, or "(missing)". */
const char *string_at(const json_t *object, const char *key);

/* Return the content of a file, or "", valid until the test ends. */
char *slurp(const char *path);

/* Wait until `path` has a line that begins with `line`. */
void await_line(const char *path, const char *line);
int has_line(const char *text, const char *line);

/* Start `dlock run -- sigchild FILE mode`, wait until sigchild is ready, and
 * return the pid. `options` are options of `dlock run` and end in NULL. */
pid_t start_sigchild(struct proc *p, const char *file, const char *mode,
		     const char *name, const char *const options[]);

/* start_sigchild() with mode "leave"; the options may be NULL. */
#define HOLD(p, name, ...)                                                     \
	start_sigchild(p, new_file(), "leave", name, ARGS(__VA_ARGS__))
const char *new_file(void);

/* Send SIGTERM, and finish(). */
struct result stop(const struct proc *p);

/* Return the path of a full pipe: a writer blocks. */
const char *full_pipe(void);

/* The lock is free: `dlock run -n` runs. */
int is_free(const char *name);

/* Expect the exit code, and `says` in standard error. */
void expect_says(struct result r, int code, const char *says);

/* Return the state as in proc(5), or 'X': there is no such process. */
char state_of(pid_t pid);
int alive(pid_t pid); /* and not a zombie */

/* Skip the case unless root runs the tests and other users may run dlock. */
void needs_other_users(void);

#endif
