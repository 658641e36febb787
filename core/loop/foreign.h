/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign descriptors: a client library owns the socket, and names descriptor,
 * interest and deadline after each call.
 */
#ifndef DLOCK_CORE_LOOP_FOREIGN_H
#define DLOCK_CORE_LOOP_FOREIGN_H

#include "core/base/alarm.h"
#include "core/world/world.h"

struct dlki_engine;

/* Most of an engine. */
enum { DLKI_FOREIGNS = 4 };

/* Under the engine's mutex. */
struct dlki_foreign {
	struct dlki_engine *engine;
	enum dlki_set set;
	struct dlki_tag tag;
	int fd; /* -1: not watched */
	unsigned int events;
	struct dlki_alarm alarm;

	/* The descriptor is ready for `events`, or, if they are 0, the time has
	 * come.  Call the library, then dlki_foreign_set(). */
	void (*ready)(struct dlki_foreign *f, unsigned int events,
		      dlk_time now);
};

/* 0; ENOMEM; or EEXHAUSTED: the engine has DLKI_FOREIGNS. */
int dlki_foreign_add(struct dlki_engine *e, struct dlki_foreign *f,
		     enum dlki_set set,
		     void (*ready)(struct dlki_foreign *f, unsigned int events,
				   dlk_time now));

/* Watch this descriptor for READABLE and WRITABLE, and call ready() at `at` at
 * the latest.  fd -1 or `events` 0: stop watching.  Call it with -1 before the
 * library closes the descriptor.  0 or ENOMEM. */
int dlki_foreign_set(struct dlki_foreign *f, int fd, unsigned int events,
		     dlk_time at);

void dlki_foreign_remove(struct dlki_foreign *f);

/* Take an event of the world, if it is of a foreign descriptor. */
void dlki_foreigns_event(struct dlki_engine *e, const struct dlki_event *event);

/* Is there any? */
int dlki_foreigns_exist(const struct dlki_engine *e);

#endif
