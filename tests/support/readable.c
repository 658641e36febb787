/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wait.h"

#include <poll.h>

int is_readable(int fd, int64_t ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	CHECK_INT(fd, >=, 0);
	return poll(&p, 1, (int)ms) == 1;
}
