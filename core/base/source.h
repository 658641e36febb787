/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: what "dlock-loop", the thread of the process, waits for.  A source
 * has a time and perhaps a descriptor.  A client without threads has an
 * attendant of its own in place of dlock-loop: see attendant.h.
 *
 * A source switches the descriptor on while no other thread polls it.  Input
 * that came while the descriptor was off is seen then.
 *
 * On dlock-loop a source's function must not wait for a store, nor call the
 * program.
 */
#ifndef DLOCK_CORE_BASE_SOURCE_H
#define DLOCK_CORE_BASE_SOURCE_H

#include <dlock/backend.h>

#include "core/base/heap.h"

struct dlki_attendant;

/* All zero but for the function: the source has not joined. */
struct dlki_source {
	/* The time has come, or the descriptor is readable; called with no lock
	 * held.  The call may be late, and without a reason any more. */
	void (*ready)(struct dlki_source *source);

	struct dlki_attendant *_Atomic by; /* NULL: the source has not joined */
	struct dlki_timer timer;   /* this and the rest: under the mutex */
	int fd;
	size_t place;
	uint32_t serial;           /* of the sources at this place */
};

/* Have `own`, or if that is NULL, dlock-loop wait for the source, which has no
 * descriptor yet.  0, or an errno value. */
int dlki_source_join(struct dlki_source *source, struct dlki_attendant *own);

/* Take the source from the attendant: waits until ready() has returned.  Not in
 * a source's function.  Accepts a source that has not joined. */
void dlki_source_leave(struct dlki_source *source);

/* The rest is for any thread, with any lock held. */

/* Set the source's descriptor, which is off at first; -1: no descriptor.  Call
 * this before closing the former descriptor.  0, or an errno value: the source
 * then has no descriptor. */
int dlki_source_set_fd(struct dlki_source *source, int fd);

/* Call ready() at `at`; DLK_FOREVER: never.  When calling, the attendant
 * forgets the time. */
void dlki_source_at(struct dlki_source *source, dlk_time at);

/* Switch the descriptor on or off.  One thread at a time. */
void dlki_source_listen(struct dlki_source *source, int on);

#endif
