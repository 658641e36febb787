/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an asynchronous call for a multi-lock: each releases a member,
 * or hands the member's hold out.
 */
#ifndef DLOCK_CORE_MULTI_PARTS_H
#define DLOCK_CORE_MULTI_PARTS_H

#include "core/multi_call.h"

/* A call with `n` parts, which is `op` then; NULL: no memory. */
struct dlki_multi_call *dlki_multi_call_new(struct dlki_async *op, size_t n);

/* Without mu: enter the program's operation, and set `*number` unless NULL.  Of
 * a release of an upgradeable hold the first part has begun afterwards; EINVAL:
 * it is refused. */
int dlki_multi_parts_enter(struct dlki_multi_call *call, dlock_op *number,
			   struct dlk_error *err);

/* Without mu: begin to release all members of an acquire.  The last release
 * goes on with the call, which may end before this function returns. */
void dlki_multi_parts_give_back(struct dlki_multi_call *call);

/* Without mu: a member was released, or the release failed.  Were all? */
int dlki_multi_parts_released(struct dlki_multi_call *call, int rc,
			      const struct dlk_error *err);

/* Without mu.  The callback of a granted acquire begins; has returned, and the
 * call is freed. */
void dlki_multi_parts_hand_out(struct dlki_multi_call *call,
			      const dlock_hold *hold);
void dlki_multi_parts_handed_out(struct dlki_multi_call *call);

#endif
