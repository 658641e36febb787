/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/mailbox.h"
#include "bench/bench.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 100000000 /* how long a signal may go unnoticed */

void mailbox_post(struct mailbox *m)
{
	atomic_fetch_add(&m->posted, 1);
	syscall(SYS_futex, &m->posted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int mailbox_wait(struct mailbox *m, int64_t ns)
{
	const struct timespec slice = { 0, SLICE_NS };
	int64_t until = bench_now() + ns;

	while (atomic_load(&m->posted) == m->seen) {
		if (bench_over(until))
			return -1;
		syscall(SYS_futex, &m->posted, FUTEX_WAIT, m->seen, &slice,
			NULL, 0);
	}
	m->seen++;
	return 0;
}
