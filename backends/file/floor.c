/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/table.h"

#define PAUSE_NS 200000
#define FLOOR_NAME_SIZE 256

struct floor {
	uint64_t token;
	uint64_t check; /* ~token */
};

/* No key begins like that. */
static const char *floor_file(const struct file_session *s,
			      char buf[FLOOR_NAME_SIZE])
{
	snprintf(buf, FLOOR_NAME_SIZE, "%s~floor", s->prefix);
	return buf;
}

int dlki_file_floor_lock(struct file_session *s, dlk_time deadline,
			 struct dlk_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	char file[FLOOR_NAME_SIZE];
	struct stat st;
	int fd, rc;

	rc = dlki_file_entry(s, floor_file(s, file), &fd, &st, err);
	if (rc)
		return rc < 0 ? rc : err->code;
	for (;;) {
		rc = dlki_file_lock(fd, F_WRLCK, FILE_MAIN);
		if (rc)
			break;
		if (dlk_now() >= deadline)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (rc == 1)
		return fd;
	if (rc < 0)
		rc = dlki_file_fail(err, errno, "lock", file);
	else
		rc = dlk_fail(err, DLOCK_EBUSY, "'%s' is locked", file);
	dlki_file_fds_close(fd);
	return rc;
}

static uint64_t read_floor(int fd)
{
	struct floor f;

	if (pread(fd, &f, sizeof(f), 0) != (ssize_t)sizeof(f))
		return 0;
	return f.check == ~f.token ? f.token : 0;
}

int dlki_file_floor_raise(const struct file_session *s, int fd, uint64_t token)
{
	struct floor f = { token, ~token };

	if (read_floor(fd) >= token)
		return 0;
	if (pwrite(fd, &f, sizeof(f), 0) != (ssize_t)sizeof(f))
		return -1;
	return s->sync && (fdatasync(fd) < 0 || fsync(s->dirfd) < 0) ? -1 : 0;
}

uint64_t dlki_file_floor(const struct file_session *s)
{
	char file[FLOOR_NAME_SIZE];
	uint64_t token = 0;
	struct stat st;
	int fd = dlki_file_entry_read(s, floor_file(s, file));

	if (fd < 0)
		return 0;
	/* In a directory with a sticky bit it may be anybody's. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid())
		token = read_floor(fd);
	close(fd);
	return token;
}
