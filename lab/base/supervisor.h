/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's side of lab/base/process.h.  Internal to the lab. */
#ifndef DLOCK_LAB_SUPERVISOR_H
#define DLOCK_LAB_SUPERVISOR_H

#include <sys/types.h>

enum lab_supervisor_verb { LAB_SPAWN, LAB_SIGNAL, LAB_REAP };

/* One packet of a SOCK_SEQPACKET socket. */
struct lab_supervisor_order {
	enum lab_supervisor_verb verb;
	int sig;          /* LAB_SIGNAL */
	int args;         /* LAB_SPAWN: this many in text, */
	char text[16384]; /* ... each ended by a NUL */
};

struct lab_supervisor_answer {
	int error;  /* errno, 0 for good */
	pid_t pid;  /* LAB_SPAWN */
	int status; /* LAB_REAP */
	char end[6]; /* of the directory's name, in the first answer */
};

/*
 * Make the directory, as mkdtemp(3) does, and report that; supervise until
 * `ctl` is closed or `owner`, a pidfd or -1, ends.  Runs in a forked child of a
 * program with threads: all calls are async-signal-safe in glibc.
 */
_Noreturn void lab_supervise(int ctl, int owner, char *dir);

#endif
