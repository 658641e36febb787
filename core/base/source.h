/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "dlock-loop", the thread that waits for all clients of the process: for what
 * is due at a time, and for descriptors that no other thread polls.
 *
 * What the thread waits for is a source: a time, and a descriptor or none.  The
 * thread sleeps on an epoll set with a timer of the boot-time clock and the
 * descriptors, which may be epoll sets themselves.  A source switches its
 * descriptor on while no other thread polls it.  The set is level-triggered:
 * what came while it was off is seen then.
 *
 * A source's function must not wait for a store, nor call the program.
 */
#ifndef DLOCK_CORE_BASE_SOURCE_H
#define DLOCK_CORE_BASE_SOURCE_H

#include <dlock/backend.h>

#include "core/base/heap.h"

struct dlki_attendant;

/* All zero but for the function: it has not joined. */
struct dlki_source {
	/* The time has come, or the descriptor is readable; called with no lock
	 * held.  Late, or when there is nothing any more, as well. */
	void (*ready)(struct dlki_source *source);

	struct dlki_attendant *_Atomic by; /* NULL: it has not joined */
	struct dlki_timer timer;   /* this and the rest: under its mutex */
	int fd;
	size_t place;
	uint32_t serial;           /* of the sources that had the place */
};

/* Have the thread wait for the source, which has no descriptor yet.  0, or an
 * errno value. */
int dlki_source_join(struct dlki_source *source);

/* Its function is not called any more: waits until it has returned.  Not on the
 * thread.  Nothing is done if it has not joined. */
void dlki_source_leave(struct dlki_source *source);

/* The rest is for any thread, with any lock held. */

/* Its descriptor from now on, off; -1: none.  Before the descriptor that it had
 * is closed.  0, or an errno value: then it has none. */
int dlki_source_set_fd(struct dlki_source *source, int fd);

/* Call it at `at`; DLK_FOREVER: at no time.  The thread forgets the time when
 * it calls. */
void dlki_source_at(struct dlki_source *source, dlk_time at);

/* Call it when the descriptor is readable, or no longer.  One thread at a
 * time. */
void dlki_source_listen(struct dlki_source *source, int on);

#endif
