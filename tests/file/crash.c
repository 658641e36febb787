/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that die or fork, and disks that are full or fail. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The child of a raw clone(), without the handlers of pthread_atfork(). */
static void hold_and_clone(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_hold *h = take(mutex(c, "x"), 0);
	long pid;

	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	CHECK(pid >= 0);
	if (pid == 0) {
		while (!s->stop && kill(s->test, 0) == 0)
			nap_ms(10);
		execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	s->other = (int)pid;
	s->held = 1;
	EVENTUALLY(s->waits);
	CHECK_OK(dlock_release(h));
	s->granted = 1;
	for (;;)
		pause();
}

static pid_t start_with_a_clone(struct scene *s)
{
	pid_t holder;

	s->held = s->stop = s->waits = 0;
	holder = child(hold_and_clone, s);
	EVENTUALLY(s->held);
	return holder;
}

/* The kernel cannot know that the copy is no holder. */
static void leave_to_a_clone(struct scene *s, dlock_lock *l)
{
	dlock_hold *h;

	child_kill(start_with_a_clone(s));
	CHECK_RC(dlock_acquire(l, 100, &h), DLOCK_EBUSY);
}

CASE(file_crash, a_raw_clone_keeps_a_dead_holders_lock_until_exec_or_break)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = mutex(c, "x");
	pid_t holder = start_with_a_clone(s);

	s->waits = 1;
	EVENTUALLY(s->granted);
	CHECK_OK(dlock_release(take(l, 0)));
	CHECK(kill(s->other, SIGKILL) == 0);
	child_kill(holder);
	leave_to_a_clone(s, l);
	CHECK_OK(dlock_break(l, FOREVER));
	CHECK_OK(dlock_release(take(l, 0)));
	CHECK(kill(s->other, SIGKILL) == 0);
	leave_to_a_clone(s, l);
	s->stop = 1;
	CHECK_OK(dlock_release(take(l, patience_ms())));
	CHECK(kill(s->other, SIGKILL) == 0);
}

/* ---- Full and broken disks ----------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) > 0);
	close(fd);
}

/* In a chroot the mount that "/" is part of has no name, and a mount might be
 * seen outside. */
static void skip_in_a_chroot(void)
{
	struct statx st;

	CHECK(statx(AT_FDCWD, "/", 0, 0, &st) == 0);
	if (!(st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		cr_skip_test("in a chroot, mounts cannot be made private");
}

/* Make a private mount namespace; without root, also a user namespace in which
 * the process is root. */
static void private_mounts(void)
{
	char map[64];

	if (unshare(CLONE_NEWNS) < 0) {
		snprintf(map, sizeof(map), "0 %u 1", (unsigned int)geteuid());
		CHECK(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
		write_file("/proc/self/uid_map", map);
	}
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
}

static void fails_then_works(const char *dir, int code, int errnum,
			     void (*heal)(const char *dir))
{
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *l = mutex(c, "x"), *m = mutex(d, "x");
	dlock_hold *h;

	CHECK_RC(dlock_acquire(l, 60000, &h), code);
	CHECK_TEXT(dlock_errmsg(), strerror(errnum));
	CHECK_TEXT(dlock_errmsg(), "dlock.lnx");
	heal(dir);
	/* The failed acquire has left no byte locked. */
	CHECK_OK(dlock_release(take(m, 0)));
	CHECK_OK(dlock_release(take(l, 0)));
	end_now(l);
	end_now(m);
	end_now(c);
	end_now(d);
}

static void make_room(const char *dir)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/ballast", dir);
	CHECK(unlink(path) == 0);
}

static void fill_a_disk(const char *dir)
{
	char path[PATH_MAX + 16], page[4096] = { 0 };
	int fd;

	private_mounts();
	CHECK(mount("tmpfs", dir, "tmpfs", 0, "size=16k,mode=700") == 0);
	snprintf(path, sizeof(path), "%s/ballast", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0);
	while (write(fd, page, sizeof(page)) > 0)
		;
	CHECK_INT(errno, ==, ENOSPC);
	close(fd);
}

static void on_a_full_disk(void *arg)
{
	struct scene *s = arg;
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	fill_a_disk(s->dir);
	fails_then_works(s->dir, DLOCK_EEXHAUSTED, ENOSPC, make_room);
	fill_a_disk(s->dir);
	c = store_open(s->dir, NULL);
	l = mutex(c, "x");
	CHECK_RC(dlock_acquire(l, 60000, &h), DLOCK_EEXHAUSTED);
	CHECK(access(store_file(s->dir, "l", "x"), F_OK) == 0);
	end_now(l);
	end_now(c);
	/* No token was written that the file would have to keep. */
	CHECK(access(store_file(s->dir, "l", "x"), F_OK) < 0);
}

CASE(file_crash, a_full_disk)
{
	skip_in_a_chroot();
	child_ended(child(on_a_full_disk, scene()));
}

static void make_writable(const char *dir)
{
	CHECK(mount(NULL, dir, NULL, MS_REMOUNT, "size=64k") == 0);
}

static void on_a_read_only_disk(void *arg)
{
	struct scene *s = arg;

	private_mounts();
	CHECK(mount("tmpfs", s->dir, "tmpfs", 0, "size=64k,mode=700") == 0);
	CHECK(mount(NULL, s->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	fails_then_works(s->dir, DLOCK_EDENIED, EROFS, make_writable);
}

CASE(file_crash, a_read_only_disk)
{
	skip_in_a_chroot();
	child_ended(child(on_a_read_only_disk, scene()));
}

static void no_more_errors(const char *dir)
{
	(void)dir;
	fail_pwrite = 0;
}

CASE(file_crash, a_broken_disk)
{
	const char *dir = store_dir();

	fail_pwrite = EIO;
	fails_then_works(dir, DLOCK_ESYSTEM, EIO, no_more_errors);
	fail_pwrite = EDQUOT;
	fails_then_works(dir, DLOCK_EEXHAUSTED, EDQUOT, no_more_errors);
}

/* An error while another client reads. A waiting writer still gets a turn. */
CASE(file_crash, a_broken_disk_while_others_read)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *l = rwlock(c, "x"), *m = rwlock(d, "x");
	dlock_hold *h, *none;

	h = take_shared(l, 0);
	fail_pwrite = EIO;
	CHECK_RC(dlock_acquire_shared(m, 0, &none), DLOCK_ESYSTEM);
	CHECK_RC(dlock_acquire(m, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
	CHECK_RC(dlock_acquire(m, 0, &none), DLOCK_ESYSTEM);
	fail_pwrite = 0;
	CHECK_OK(dlock_release(take(l, 0)));
	CHECK_OK(dlock_release(take_shared(m, 0)));
}
