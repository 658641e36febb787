/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend.h>

static size_t permits_of(struct dlk_queue_entry e)
{
	return e.permits > 0 ? e.permits : 1;
}

ptrdiff_t dlk_grant(const struct dlk_queue_entry *queue, size_t ahead,
		    struct dlk_queue_entry me)
{
	ptrdiff_t exclusive = -1, shared = -1;
	size_t permits = permits_of(me);

	if (me.mode == DLK_EXCLUSIVE)
		return (ptrdiff_t)ahead - 1;
	for (size_t i = 0; i < ahead; i++) {
		if (queue[i].mode == DLK_EXCLUSIVE) {
			exclusive = (ptrdiff_t)i;
		} else {
			shared = (ptrdiff_t)i;
			permits += permits_of(queue[i]);
		}
	}
	/* Sharers stand in the way only all together, once the limit is met. */
	if (me.limit && permits > me.limit && shared > exclusive)
		return shared;
	return exclusive;
}
