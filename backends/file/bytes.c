/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>

static int set(int fd, short type, off_t at, off_t len)
{
	struct flock fl = { .l_type = type,
			    .l_whence = SEEK_SET,
			    .l_start = at,
			    .l_len = len };

	return fcntl(fd, F_OFD_SETLK, &fl);
}

int dlki_file_lock(int fd, short type, off_t at)
{
	if (set(fd, type, at, 1) == 0)
		return 1;
	return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

void dlki_file_unlock(int fd, off_t at)
{
	(void)set(fd, F_UNLCK, at, 1);
}

void dlki_file_unlock_all(int fd)
{
	/* From 0 to the end: the one form for which the kernel needs no memory
	 * (a hole in a range would split it), so that it is faster and cannot
	 * fail. */
	(void)set(fd, F_UNLCK, 0, 0);
}

short dlki_file_probe(int fd, short type, off_t at, off_t len)
{
	struct flock fl = { .l_type = type,
			    .l_whence = SEEK_SET,
			    .l_start = at,
			    .l_len = len };

	if (fcntl(fd, F_OFD_GETLK, &fl) < 0)
		return F_UNLCK;
	return fl.l_type;
}
