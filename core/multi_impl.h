/* SPDX-License-Identifier: Apache-2.0 */
/* What multi.c and multi_hold.c share. */
#ifndef DLOCK_CORE_MULTI_IMPL_H
#define DLOCK_CORE_MULTI_IMPL_H

#include "core/multi.h"

struct dlki_multi {
	size_t n;
	size_t n_clients;
	struct dlock_client **clients; /* each once */
	struct dlki_member {
		dlock_lock *lock; /* a handle of our own */
		size_t place;     /* where the user named it */
	} member[];               /* in the global order */
};

struct dlki_multi_hold {
	dlock_hold hold; /* the user's handle */
	_Atomic int fd;  /* epoll over the members', or -1 */
	size_t n;
	struct dlki_member_hold {
		dlock_hold *hold;
		size_t place;
	} member[]; /* in the order of acquiring */
};

#endif
