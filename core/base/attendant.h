/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attendant waits for sources: for times, and for descriptors that no other
 * thread polls.
 *
 * The attendant of the process is the thread "dlock-loop".  It sleeps on an
 * epoll set with a timer of the boot-time clock and the descriptors, which may
 * be epoll sets themselves.  The set is level-triggered.
 *
 * A client without threads has an attendant of its own.  A thread of the
 * program polls the set's descriptor, and calls dlki_attend() when the
 * descriptor is readable.
 */
#ifndef DLOCK_CORE_BASE_ATTENDANT_H
#define DLOCK_CORE_BASE_ATTENDANT_H

#include <sys/queue.h>

#include "core/base/common.h"
#include "core/base/source.h"

struct dlki_attendant {
	struct dlki_common base; /* of a client's own only the mutex and the
				  * condition */

	/* Constant. */
	int is_own;
	int outer_fd; /* of an own attendant: see dlki_attendant_new() */
	struct dlki_attendant *process; /* the process's */

	/* Under the process's mutex. */
	LIST_HEAD(, dlki_attendant) own; /* of the process's: the clients' */
	LIST_ENTRY(dlki_attendant) in_own;
	unsigned int visits; /* of dlki_attend_others() */

	/* Under the mutex of `base`, a leaf but for the clients' and the
	 * engines'. */
	int set_fd, timer_fd, end_fd; /* while there are sources; those of an
				       * own attendant are constant */
	struct dlki_heap times;
	struct dlki_source **v; /* by place; NULL: free */
	size_t n;
	uint32_t serial; /* of the last source */
	dlk_time armed;  /* the time to which the timer is set */
	int awake;       /* the thread will arm the timer before sleeping */
	int attended;    /* a thread is in dlki_attend() */
	uint64_t rouses; /* of threads that wait for that thread */
	struct dlki_source *calling;
};

/* Return the process's attendant; NULL: no memory. */
struct dlki_attendant *dlki_attendant_here(void);

/* ---- A client's own ------------------------------------------------------ */

/*
 * Make an attendant without a thread: 0, or an errno value.  `outer_fd` polls
 * readable while a source is due or `due_fd`, which is borrowed, is readable;
 * `set_fd` polls readable for the sources alone.
 */
int dlki_attendant_new(struct dlki_attendant **out, int due_fd);

/* Free the attendant after every source has left, and every visit has ended.
 * Accepts NULL. */
void dlki_attendant_free(struct dlki_attendant *by);

/* Call the sources that are due, each at most once.  Waits for a thread that
 * does so already.  Not in a source's function. */
void dlki_attend(struct dlki_attendant *by);

/* The same, but wait for the other thread only until `until`, or until there
 * have been more than `rouses`. */
void dlki_attend_unless_roused(struct dlki_attendant *by, uint64_t rouses,
			       dlk_time until);
uint64_t dlki_attendant_rouses(struct dlki_attendant *by);
void dlki_attendant_rouse(struct dlki_attendant *by);

/* Is a source due, and no thread there? */
int dlki_attendant_is_wanted(struct dlki_attendant *by);

/* As dlki_attend(), unless another thread is there. */
void dlki_attend_if_free(struct dlki_attendant *by);

/* The same for each other own attendant of the process, unless a thread is
 * there. */
void dlki_attend_others(const struct dlki_attendant *but);

/* Return when the next source is due by the clock, or 0: a source is due. */
dlk_time dlki_attendant_due(struct dlki_attendant *by);

/* ---- For source.c, with the mutex held ----------------------------------- */

/* Make the descriptors: 0, or an errno value. */
int dlki_attendant_open(struct dlki_attendant *by);
void dlki_attendant_close(const struct dlki_attendant *by);

/* epoll_ctl() on the set. */
int dlki_attendant_control(const struct dlki_attendant *by, int op, int fd,
			   uint32_t events, size_t place, uint32_t serial);

/* Set the timer to the first time, unless a thread will do so. */
void dlki_attendant_arm(struct dlki_attendant *by);

/* The thread; and have it return. */
void *dlki_attendant_main(void *attendant);
void dlki_attendant_end(struct dlki_common *base);

#endif
