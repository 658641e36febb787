/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/bytes.h"

#include <errno.h>
#include <fcntl.h>

static int set_lock(int fd, short type, off_t at, off_t len)
{
	struct flock fl = { .l_type = type,
			    .l_whence = SEEK_SET,
			    .l_start = at,
			    .l_len = len };

	return fcntl(fd, F_OFD_SETLK, &fl);
}

static int try_set_lock(int fd, short type, off_t at, off_t len)
{
	if (set_lock(fd, type, at, len) == 0)
		return 1;
	return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int dlki_file_lock(int fd, short type, off_t at)
{
	return try_set_lock(fd, type, at, 1);
}

int dlki_file_lock_all(int fd)
{
	return try_set_lock(fd, F_WRLCK, 0, 0);
}

void dlki_file_unlock(int fd, off_t at)
{
	(void)set_lock(fd, F_UNLCK, at, 1);
}

int dlki_file_lock_run(int fd, off_t at, off_t len)
{
	return try_set_lock(fd, F_WRLCK, at, len);
}

void dlki_file_unlock_run(int fd, off_t at, off_t len)
{
	(void)set_lock(fd, F_UNLCK, at, len);
}

void dlki_file_unlock_all(int fd)
{
	/* From 0 to the end: for this form alone the kernel needs no memory (a
	 * hole in a range would split it), so the call is faster and cannot
	 * fail. */
	(void)set_lock(fd, F_UNLCK, 0, 0);
}

/* Return the lock in the way, or F_UNLCK. */
static struct flock get_lock(int fd, short type, off_t at, off_t len)
{
	struct flock fl = { .l_type = type,
			    .l_whence = SEEK_SET,
			    .l_start = at,
			    .l_len = len };

	if (fcntl(fd, F_OFD_GETLK, &fl) < 0)
		fl.l_type = F_UNLCK;
	return fl;
}

int dlki_file_all_locked(int fd)
{
	struct flock fl = get_lock(fd, F_RDLCK, FILE_MAIN, 1);

	return fl.l_type != F_UNLCK && fl.l_start == 0;
}

short dlki_file_probe(int fd, short type, off_t at, off_t len)
{
	struct flock fl = get_lock(fd, type, at, len);

	return fl.l_start == 0 && !fl.l_len ? F_UNLCK : fl.l_type;
}

int dlki_file_find(int fd, off_t at, off_t end, off_t *from, off_t *to)
{
	struct flock fl = get_lock(fd, F_WRLCK, at, end - at);

	*from = fl.l_start > at ? fl.l_start : at;
	*to = fl.l_len ? fl.l_start + fl.l_len : end;
	if (*to > end)
		*to = end;
	return fl.l_type != F_UNLCK;
}

/* Count recursively: the kernel names any of the locks in the way, not the
 * first. */
uint32_t dlki_file_count(int fd, off_t at, off_t end)
{
	uint32_t n = 0;
	off_t from, to;

	while (at < end && dlki_file_find(fd, at, end, &from, &to)) {
		n += (uint32_t)(to - from) + dlki_file_count(fd, at, from);
		at = to;
	}
	return n;
}
