/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend.h>

ptrdiff_t dlk_grant(const struct dlk_queue_entry *queue, size_t ahead,
		    struct dlk_queue_entry me)
{
	ptrdiff_t exclusive = -1, shared = -1;
	size_t sharers = 0;

	if (me.mode == DLK_EXCLUSIVE)
		return (ptrdiff_t)ahead - 1;
	for (size_t i = 0; i < ahead; i++) {
		if (queue[i].mode == DLK_EXCLUSIVE) {
			exclusive = (ptrdiff_t)i;
		} else {
			shared = (ptrdiff_t)i;
			sharers++;
		}
	}
	/* Sharers stand in the way only all together, once the limit is met. */
	if (me.limit && sharers >= me.limit && shared > exclusive)
		return shared;
	return exclusive;
}
