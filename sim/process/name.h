/* SPDX-License-Identifier: Apache-2.0 */
/* A lock or semaphore of a play, as the judge knows it. */
#ifndef DLOCK_SIM_PROCESS_NAME_H
#define DLOCK_SIM_PROCESS_NAME_H

#include <stddef.h>
#include <stdint.h>

enum sim_lock_kind { SIM_MUTUAL, SIM_READ_WRITE, SIM_PERMITS };

/* Another number of permits than the handles name. */
struct sim_resize {
	uint32_t set;  /* the last, if known; else 0 */
	uint32_t most; /* the largest of all that were asked for */
	size_t under_way;
	int unclear;    /* in which order several were set */
	int unanswered; /* a number may still be set */
	int64_t begun_at, since;
};

/* The servers of a fleet. */
enum { SIM_MEMBERS = 4 };

struct sim_name {
	enum sim_lock_kind kind;
	size_t member; /* the server with the name, from 0 */
	int is_well;   /* ... has no faults, while another server has */
	int is_far;    /* ... is too slow for the requests, most of which end
			* before the answer */
	uint32_t permits;
	struct sim_resize resize;
	uint64_t largest[2]; /* tokens of write sides, and of the others */
	int64_t free_since;  /* while there is no hold */
	int64_t used_from;   /* while there are holds that last */
	size_t holds;
	size_t leaving;      /* visitors, who may hold it and never hear so */
};

#endif
