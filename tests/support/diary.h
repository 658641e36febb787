/* SPDX-License-Identifier: Apache-2.0 */
/* A record of a client's events, in order, and of the log. */
#ifndef DLOCK_TESTS_DIARY_H
#define DLOCK_TESTS_DIARY_H

#include <dlock/backend.h>
#include <stdatomic.h>

enum { DIARY_PAGES = 64 };

struct diary {
	/* Counted when the page has been written. */
	atomic_int risks, safes, losses;
	_Atomic int64_t lost_ms; /* now_ms(), the first time */
	pthread_mutex_t mu;
	int n;
	struct {
		dlock_hold *hold;
		enum dlock_event event;
		dlk_time at;
		int check; /* dlock_check() at the time */
		char why[120];
	} page[DIARY_PAGES]; /* the first ones */
	char log[8192];      /* lines, each with the level in front */
};

#define DIARY_INIT { .mu = PTHREAD_MUTEX_INITIALIZER }

/* Returns options with which a client writes into `d`; NULL: without events and
 * log. */
dlock_options diary_options(struct diary *d);

/* dlock_options.on_event, with the diary for the argument. */
void diary_event(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *diary);

/* Looks for `part` in the log; counts `part`. */
int diary_says(struct diary *d, const char *part);
int diary_times(struct diary *d, const char *part);

#endif
