/* SPDX-License-Identifier: Apache-2.0 */
/* A directory for several users. Each visit of a user is a process. Without
 * root, the case is skipped. */
#ifndef DLOCK_TESTS_FILE_PLACE_H
#define DLOCK_TESTS_FILE_PLACE_H

#include "support.h"

/* ALICE and BOB are in the group CREW. */
enum { ALICE = 61001, BOB = 61002, STRANGER = 61003, CREW = 62000 };

struct place {
	char above[PATH_MAX], dir[PATH_MAX + 16];
	const char *query; /* of the URI */
	const char *text;  /* in the refusal */
	atomic_int held, waits, stop, inside;
	_Atomic uint64_t token; /* of the latest hold */
	_Atomic int64_t freed_ms, took_ms;
};

/* place() makes no directory; place_of() makes a directory of root, and sets
 * the query. */
struct place *place(void);
struct place *place_of(mode_t mode, gid_t group, const char *query);

/* Run `visit` as a user, in another process, with umask 077. */
pid_t start_as(uid_t uid, void (*visit)(struct place *p), struct place *p);
void as(uid_t uid, void (*visit)(struct place *p), struct place *p);

/* Visits: acquire and release the lock "x"; hold it until `stop`; find it busy;
 * wait for it; be refused with `text`. */
void use(struct place *p);
void hold(struct place *p);
void find_busy(struct place *p);
void wait_for_it(struct place *p);
void be_refused(struct place *p);

void file_is(struct place *p, mode_t mode, uid_t uid);
void says(struct place *p, const char *query, const char *text);

#endif
