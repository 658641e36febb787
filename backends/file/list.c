/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = { "mutex", "rwlock", "semaphore" };

	return kind < 3 ? names[kind] : "unknown";
}

static void list_one(struct file_session *s, const char *file,
		     void (*each)(const struct dlock_entry *e, void *arg),
		     void *arg)
{
	struct dlock_entry e = { .size = sizeof(e) };
	struct file_header h;
	struct file_state st;
	int fd = dlki_file_entry_read(s, file);

	if (fd < 0)
		return;
	if (dlki_file_load(fd, DLK_MUTEX, NULL, &h, &st) == FILE_GOOD) {
		e.name = h.name;
		e.kind = kind_name(h.kind);
		e.permits = (uint32_t)st.limit;
		each(&e, arg);
	}
	close(fd);
}

/* Is this the name of a lock file under our prefix? */
static int ours(const struct file_session *s, const char *file)
{
	size_t n = strlen(s->prefix);

	if (strncmp(file, s->prefix, n))
		return 0;
	file += n;
	return *file && !file[strspn(file, "0123456789"
					   "abcdefghijklmnopqrstuvwxyz")];
}

int dlki_file_list(struct dlk_session *base,
		   void (*each)(const struct dlock_entry *e, void *arg),
		   void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	struct dirent *d;
	DIR *dir;
	int fd, rc = dlki_file_dir_follow(s, err);

	(void)deadline;
	if (rc < 0)
		return rc;
	fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return dlki_file_fail(err, errno, "open directory", s->dir);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return dlki_file_fail(err, errno, "read directory", s->dir);
	}
	while ((d = readdir(dir))) {
		if (ours(s, d->d_name))
			list_one(s, d->d_name, each, arg);
	}
	closedir(dir);
	return 0;
}
