/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/inotify.h"
#include "backends/file/share.h"
#include "backends/file/table.h"

#define LOOK_MS 50 /* also without inotify */
#define READS 100

struct floor {
	uint64_t token;
	uint64_t check; /* ~token */
};

/* Print the floor's name, with which no key begins.  In a directory open to
 * other users, each user has a floor. */
const char *dlki_file_floor_name(const struct file_session *s,
				 char buf[FILE_FLOOR_NAME_SIZE])
{
	if (s->share == FILE_SHARE_USER && dlki_file_share_crowded(s))
		snprintf(buf, FILE_FLOOR_NAME_SIZE, "%s~floor-%u", s->prefix,
			 (unsigned int)geteuid());
	else
		snprintf(buf, FILE_FLOOR_NAME_SIZE, "%s~floor", s->prefix);
	return buf;
}

static int watch_for_close(int fd)
{
	int watcher = -1;

	if (!dlki_file_fds_hold())
		watcher = dlki_file_fds_keep(
			inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	if (watcher >= 0)
		(void)dlki_file_inotify_add(watcher, fd, IN_CLOSE_WRITE);
	return watcher;
}

static void await_event(int watcher, dlk_time deadline)
{
	struct pollfd p = { .fd = watcher, .events = POLLIN };
	int64_t left_ms = (deadline - dlk_now()) / DLK_MS + 1;
	char events[4096];

	(void)poll(&p, 1, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
	while (watcher >= 0 && read(watcher, events, sizeof(events)) > 0)
		continue;
}

/* As dlki_file_lock(), by the deadline. */
static int lock_when_free(int fd, dlk_time deadline)
{
	int rc = dlki_file_lock(fd, F_WRLCK, FILE_MAIN);
	int watcher;

	if (rc || dlk_now() >= deadline)
		return rc;
	watcher = watch_for_close(fd);
	rc = dlki_file_lock(fd, F_WRLCK, FILE_MAIN);
	while (!rc && dlk_now() < deadline) {
		await_event(watcher, deadline);
		rc = dlki_file_lock(fd, F_WRLCK, FILE_MAIN);
	}
	dlki_file_fds_close(watcher);
	return rc;
}

/* Lock the floor.  1; 0: the file was removed meanwhile; or the error. */
static int lock_floor(struct file_session *s, const char *file,
		      dlk_time deadline, int *fd, struct dlk_error *err)
{
	struct stat st;
	int rc = dlki_file_entry(s, file, fd, &st, err);

	if (rc)
		return rc < 0 ? rc : err->code;
	rc = lock_when_free(*fd, deadline);
	if (rc == 1 &&
	    dlki_file_stands(s->dirfd, file, st.st_dev, st.st_ino) != 0)
		return 1;
	if (rc < 0)
		rc = dlki_file_fail(err, errno, "lock", file);
	else if (rc == 0)
		rc = dlk_fail(err, DLOCK_EBUSY, "'%s' is locked", file);
	else
		rc = 0;
	dlki_file_fds_close(*fd);
	return rc;
}

int dlki_file_floor_lock(struct file_session *s, dlk_time deadline,
			 struct dlk_error *err)
{
	char file[FILE_FLOOR_NAME_SIZE];
	int fd, rc;

	dlki_file_floor_name(s, file);
	do
		rc = lock_floor(s, file, deadline, &fd, err);
	while (rc == 0 && dlk_now() < deadline);
	if (rc == 0)
		rc = dlk_fail(err, DLOCK_EBUSY,
			      "'%s' is removed again and again", file);
	return rc == 1 ? fd : rc;
}

/* Unlock the floor, then close it, as the close tells a waiter to try.  A close
 * alone may not unlock: a child forked meanwhile may have a copy of the
 * descriptor for a moment. */
void dlki_file_floor_unlock(int fd)
{
	if (fd < 0)
		return;
	dlki_file_unlock(fd, FILE_MAIN);
	dlki_file_fds_close(fd);
}

static uint64_t read_floor(int fd)
{
	struct floor f;

	/* A read beside a write may see a part of the write. */
	for (int i = 0; i < READS; i++) {
		if (pread(fd, &f, sizeof(f), 0) != (ssize_t)sizeof(f))
			return 0;
		if (f.check == ~f.token)
			return f.token;
	}
	return 0;
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

int dlki_file_floor(const struct file_session *s, uint64_t *token)
{
	char file[FILE_FLOOR_NAME_SIZE];
	struct dlk_error err;
	struct stat st;
	int fd = dlki_file_entry_read(s, dlki_file_floor_name(s, file));

	*token = 0;
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ?
			       -1 :
			       0;
	/* In a directory with a sticky bit any user may have made the file. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    dlki_file_share_check(s, file, &st, &err) == 0)
		*token = read_floor(fd);
	close(fd);
	return 0;
}
