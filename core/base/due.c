/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/due.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

void dlki_due_init(struct dlki_due *due)
{
	atomic_init(&due->fd, -1);
	atomic_init(&due->told, 0);
	atomic_init(&due->nudged, 0);
}

void dlki_due_destroy(struct dlki_due *due)
{
	int fd = atomic_exchange(&due->fd, -1);

	if (fd >= 0)
		close(fd);
}

/* Make the descriptor.  A telling in between is seen here, or sees the
 * descriptor. */
int dlki_due_fd(struct dlki_due *due)
{
	int fd = atomic_load(&due->fd), none = -1;

	if (fd >= 0)
		return fd;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -1;
	if (!atomic_compare_exchange_strong(&due->fd, &none, fd)) {
		close(fd); /* another thread was faster */
		return none;
	}
	if (atomic_load(&due->told))
		eventfd_write(fd, 1);
	return fd;
}

void dlki_due_tell(struct dlki_due *due)
{
	int saved = errno;
	int fd;

	if (atomic_exchange(&due->told, 1) == 0) {
		fd = atomic_load(&due->fd);
		if (fd >= 0)
			eventfd_write(fd, 1);
	}
	errno = saved;
}

void dlki_due_tell_again(struct dlki_due *due)
{
	atomic_store(&due->told, 0);
	dlki_due_tell(due);
}

static _Thread_local struct dlki_due *to_tell;
static _Thread_local int awaits;

void dlki_due_tell_soon(struct dlki_due *due)
{
	to_tell = due;
	if (!awaits)
		dlki_due_flush();
}

void dlki_due_flush(void)
{
	struct dlki_due *due = to_tell;

	if (!due)
		return;
	to_tell = NULL;
	dlki_due_tell(due);
}

void dlki_due_await(void)
{
	awaits = 1;
	dlki_due_flush();
}

void dlki_due_nudge(struct dlki_due *due)
{
	atomic_store(&due->nudged, 1);
	dlki_due_tell(due);
}

/* Take in this order: a telling in between finds `told` set and leaves the
 * descriptor alone, but the caller has yet to look for due work. */
int dlki_due_take(struct dlki_due *due)
{
	eventfd_t ignored;
	int fd = atomic_load(&due->fd);

	if (fd >= 0)
		(void)eventfd_read(fd, &ignored);
	atomic_store(&due->told, 0);
	return atomic_exchange(&due->nudged, 0);
}
