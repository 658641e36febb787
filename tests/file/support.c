/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/file/state.h"
#include "support/process.h"
#include "support/temp.h"

atomic_int deaf_watches, torn_pread;
atomic_int fail_pwrite, fail_inotify, fail_watch, short_pwrite, slow_unwatch;
atomic_int clock_back_s, fsyncs, fdatasyncs, inotify_inits;
void (*before_unlink)(void), (*after_unlink)(void), (*before_close)(void);
void (*before_rename)(void), (*before_pwrite)(void), (*before_watch)(void);

/* Replaces libc's function for the library linked into this program. */
ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	int most = short_pwrite;

	if (before_pwrite)
		before_pwrite();
	if (fail_pwrite) {
		errno = fail_pwrite;
		return -1;
	}
	if (most && size > (size_t)most) {
		short_pwrite = 0;
		size = (size_t)most;
	}
	return syscall(SYS_pwrite64, fd, data, size, at);
}

int fsync(int fd)
{
	fsyncs++;
	return (int)syscall(SYS_fsync, fd);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	ssize_t n = syscall(SYS_pread64, fd, data, size, at);

	if (torn_pread && size == (size_t)torn_pread) {
		torn_pread = 0;
		memset((char *)data + size / 2, 0, size / 2);
	}
	return n;
}

int fdatasync(int fd)
{
	fdatasyncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

int inotify_init1(int flags)
{
	inotify_inits++;
	if (fail_inotify) {
		errno = fail_inotify;
		return -1;
	}
	return (int)syscall(SYS_inotify_init1, flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (before_watch)
		before_watch();
	if (fail_watch) {
		errno = fail_watch;
		return -1;
	}
	if (deaf_watches)
		mask = IN_DELETE_SELF;
	return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

int inotify_rm_watch(int fd, int wd)
{
	if (slow_unwatch && !--slow_unwatch)
		nap_ms(SLOW_MS);
	return (int)syscall(SYS_inotify_rm_watch, fd, wd);
}

/* The sweep of an idle lock's file calls unlink(). */
int unlink(const char *path)
{
	int rc;

	if (before_unlink)
		before_unlink();
	rc = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
	if (after_unlink)
		after_unlink();
	return rc;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	if (before_rename)
		before_rename();
	return (int)syscall(SYS_renameat, from_dir, from, to_dir, to);
}

int close(int fd)
{
	if (before_close)
		before_close();
	return (int)syscall(SYS_close, fd);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec -= clock_back_s;
	return rc;
}

void store_make(char dir[PATH_MAX])
{
	CHECK(temp_make(dir) == 0);
}

const char *store_dir(void)
{
	static char dir[PATH_MAX];

	CHECK(!dir[0]);
	store_make(dir);
	return dir;
}

struct scene *scene(void)
{
	struct scene *s = shared(sizeof(*s));

	store_make(s->dir);
	s->test = getpid();
	return s;
}

dlock_client *store_open(const char *dir, const char *query)
{
	char uri[PATH_MAX + 128];

	snprintf(uri, sizeof(uri), "file://%s%s%s", dir, query ? "?" : "",
		 query ? query : "");
	return client_of_case(uri, NULL);
}

const char *store_file(const char *dir, const char *kind, const char *name)
{
	static _Thread_local char path[PATH_MAX];

	CHECK((size_t)snprintf(path, sizeof(path), "%s/dlock.%sn%s", dir, kind,
			       name) < sizeof(path));
	return path;
}

void store_refused(const char *uri, int code, const char *part)
{
	dlock_client *c;

	CHECK_RC(dlock_open(&c, uri, NULL), code);
	CHECK_TEXT(dlock_errmsg(), part);
}

void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

pid_t child(void (*run)(void *arg), void *arg)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		case_begin_child();
		run(arg);
		case_end();
		_exit(0);
	}
	return pid;
}

void child_ended(pid_t pid)
{
	int code = process_wait(pid, 4 * patience_ms());

	CHECK_INT(code, ==, 0);
}

void child_kill(pid_t pid)
{
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

uint64_t stored_token(const char *dir)
{
	struct file_header h;
	struct file_state st;
	int fd = open(store_file(dir, "l", "x"), O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(dlki_file_load(fd, DLK_LOCK, "x", &h, &st) == FILE_GOOD);
	close(fd);
	return st.last;
}

uint64_t token_after(uint64_t last, dlock_lock *l)
{
	dlock_hold *h = take(l, FOREVER);
	uint64_t token = dlock_token(h);

	CHECK(token > last);
	give(h);
	return token;
}
