/* SPDX-License-Identifier: Apache-2.0 */
/* The options of acquires: several permits, and leases and ends of holds. */
#ifndef DLOCK_SIM_PROCESS_OPTIONS_H
#define DLOCK_SIM_PROCESS_OPTIONS_H

#include "sim/process/caller.h"

/* Return a time in which a lock is granted, and both members of a multi-lock: a
 * hold that ends sooner would be asked for without end. */
int64_t sim_options_least_ms(const struct sim_caller *me);

/* Draw the options of an acquire of `name`. */
dlock_acquire_options sim_options_draw(struct sim_caller *me,
				       const struct sim_name *name);

/* Does a hold with these options end by itself? */
int sim_options_end(const dlock_acquire_options *o);

/* May a call about a lock with these options end with `rc`, for the options?
 * `holds`: while the caller has a hold. */
int sim_options_may_end(const dlock_acquire_options *o, int rc,
			int64_t timeout_ms, int holds);

/* Return how much longer an acquire with these options may take: an answer that
 * comes too late for a lease of the acquire's own is asked for again, after a
 * pause of retry_max at most. */
int64_t sim_options_pause(const dlock_acquire_options *o);

/* A client's acquire with these options, begun at `begun`, returns the hold
 * now.  The judge hears how long the hold may last. */
void sim_options_agree(const dlock_acquire_options *o, dlock_client *c,
		       const dlock_hold *hold, int64_t begun);

/* The caller moves the end of a hold with these options. */
void sim_options_extend(struct sim_caller *me, const dlock_acquire_options *o,
			dlock_hold *hold);

#endif
