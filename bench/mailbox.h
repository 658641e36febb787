/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter in shared memory that another thread or process waits on: a futex
 * and nothing more, so that what is measured is not the waiting for it.
 */
#ifndef DLOCK_BENCH_MAILBOX_H
#define DLOCK_BENCH_MAILBOX_H

#include <stdatomic.h>
#include <stdint.h>

struct mailbox {
	_Atomic uint32_t posted;
	uint32_t seen; /* of the only one who waits */
};

void mailbox_post(struct mailbox *m);

/* Wait for the next post: 0, or -1 if none came within `ns` or the user has had
 * enough. */
int mailbox_wait(struct mailbox *m, int64_t ns);

#endif
