/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's exit codes.  Numbers of sysexits(3) are used with the meaning
 * there; a script may rely on all codes.
 */
#ifndef DLOCK_TOOLS_EXITS_H
#define DLOCK_TOOLS_EXITS_H

#include <stdio.h>

#define EXITS(X)                                                              \
	X(OK,          0,   "done; of `dlock run`: the command's own code")   \
	X(BUSY,        1,   "others held the lock; show...: nobody did")      \
	X(BROKEN,      2,   "dlock compare: a store broke what it declares") \
	X(USAGE,       64,  "a wrong command line, dlock.conf, name or URI")   \
	X(UNREACHABLE, 69,  "the store gave no answer in time")               \
	X(INTERNAL,    70,  "a bug in dlock")                                 \
	X(SYSTEM,      71,  "a system call failed, or memory ran out")        \
	X(LIMIT,       73,  "a limit of the store or of this process")        \
	X(OUTPUT,      74,  "the output could not be written")                \
	X(LOST,        75,  "the lock was lost; the command was stopped")     \
	X(PROTOCOL,    76,  "the store answered what dlock does not know")    \
	X(DENIED,      77,  "the store refused the credentials")              \
	X(NOTSUP,      78,  "this store cannot do that, or is not built in")  \
	X(NOEXEC,      126, "the command was found but could not be run")     \
	X(NOTFOUND,    127, "the command was not found")                      \
	X(SIGNAL,      128, "plus n: signal n ended the command or the wait")

enum exit_code {
#define X(name, value, text) LEAVE_##name = (value),
	EXITS(X)
#undef X
};

/* The exit code for a DLOCK_E code. */
int exit_for(int dlock_code);

/* The exit code for a system call that failed with this errno value: LIMIT or
 * SYSTEM. */
int exit_for_errno(int errnum);

/* The table, a line a code. */
void exits_print(FILE *out);

#endif
