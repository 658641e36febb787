/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that may be a store, and files that may be a lock file. */
#include "support.h"

#include "backends/file/magic.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

/* An acquire must soon fail with `code` and mention `part`, whatever file has
 * the name of the lock file. */
static void refused(const char *dir, int code, const char *part)
{
	dlock_lock *l = mutex(store_open(dir, NULL), "x");
	dlock_hold *h;

	CHECK_RC(dlock_acquire(l, 60000, &h), code);
	CHECK_TEXT(dlock_errmsg(), part);
	CHECK_TEXT(dlock_errmsg(), "dlock.lnx");
}

/* An inspection must refuse the file, and not take the lock for a free lock. */
static void not_shown(const char *dir, const char *part)
{
	dlock_lock *l = mutex(store_open(dir, NULL), "x");
	int n = 0;

	CHECK_RC(dlock_inspect(l, count_participant, &n, patience_ms()),
		 DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), part);
	CHECK_TEXT(dlock_errmsg(), "remove it");
}

static void accepted(const char *dir)
{
	taken(mutex(store_open(dir, "keep_file=on"), "x"));
}

static void uri_refused(const char *dir, int code, const char *part)
{
	char uri[PATH_MAX + 64];

	snprintf(uri, sizeof(uri), "file://%s", dir);
	store_refused(uri, code, part);
}

CASE(file_directory, uris_that_make_no_sense)
{
	store_refused("file://elsewhere/tmp", DLOCK_EINVAL, "elsewhere");
	store_refused("file://localhost:80/tmp", DLOCK_EINVAL, "localhost");
	store_refused("file:relative", DLOCK_EINVAL, "absolute");
	store_refused("file:", DLOCK_EINVAL, "absolute");
	store_refused("file:///tmp?remote=perhaps", DLOCK_EINVAL, "remote");
}

CASE(file_directory, the_forms_of_a_uri)
{
	const char *dir = store_dir();
	char uri[PATH_MAX + 32];
	const char *const form[] = { "file://%s", "file:%s",
				     "file://localhost%s", "file://%s///" };
	dlock_client *c;
	size_t i;

	for (i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(uri, sizeof(uri), form[i], dir);
#pragma GCC diagnostic pop
		CHECK_OK(dlock_open(&c, uri, NULL));
		CHECK_INT(dlock_ttl_ms(c), ==, 0);
		dlock_close(c);
	}
}

CASE(file_directory, it_is_made_if_its_parent_is_there)
{
	const char *dir = store_dir();
	char sub[PATH_MAX + 16];
	struct stat st;

	snprintf(sub, sizeof(sub), "%s/a/b", dir);
	uri_refused(sub, DLOCK_ESYSTEM, "its parent does not exist");
	snprintf(sub, sizeof(sub), "%s/a", dir);
	accepted(sub);
	CHECK(stat(sub, &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, 0700);
}

CASE(file_directory, it_must_be_a_directory_that_is_ours)
{
	const char *dir = store_dir();
	char sub[PATH_MAX + 16], link[PATH_MAX + 16];

	snprintf(sub, sizeof(sub), "%s/d", dir);
	CHECK(mkdir(sub, 0700) == 0);
	snprintf(link, sizeof(link), "%s/l", dir);
	CHECK(symlink("d", link) == 0);
	uri_refused(link, DLOCK_EDENIED, "symbolic link to 'd'");
	snprintf(link, sizeof(link), "%s/f", dir);
	CHECK(close(open(link, O_CREAT | O_WRONLY, 0600)) == 0);
	uri_refused(link, DLOCK_EINVAL, "not a directory");

	CHECK(chmod(sub, 0777) == 0);
	uri_refused(sub, DLOCK_EDENIED, "sticky");
	CHECK(chmod(sub, 0770) == 0);
	uri_refused(sub, DLOCK_EDENIED, "sticky");
	CHECK(chmod(sub, 01777) == 0);
	accepted(sub);
	if (geteuid() != 0)
		return;
	CHECK(chown(sub, NOBODY, NOBODY) == 0);
	uri_refused(sub, DLOCK_EDENIED, "belongs to user 65534");
}

CASE(file_directory, a_file_that_is_not_ours)
{
	const char *dir = store_dir(), *file = store_file(dir, "l", "x");
	char other[PATH_MAX + 16];

	snprintf(other, sizeof(other), "%s/other", dir);
	CHECK(close(open(other, O_CREAT | O_WRONLY, 0600)) == 0);

	CHECK(symlink("other", file) == 0);
	refused(dir, DLOCK_EDENIED, "symbolic link");
	CHECK(unlink(file) == 0 && symlink("nowhere", file) == 0);
	refused(dir, DLOCK_EDENIED, "symbolic link");
	not_shown(dir, "symbolic link");
	CHECK(unlink(file) == 0 && mkfifo(file, 0600) == 0);
	refused(dir, DLOCK_EDENIED, "FIFO");
	not_shown(dir, "FIFO");
	CHECK(unlink(file) == 0 && mkdir(file, 0700) == 0);
	refused(dir, DLOCK_EDENIED, "regular file");
	not_shown(dir, "regular file");
	CHECK(rmdir(file) == 0 && link(other, file) == 0);
	refused(dir, DLOCK_EDENIED, "hard link");
	CHECK(unlink(other) == 0 && chmod(file, 0644) == 0);
	refused(dir, DLOCK_EDENIED, "0644");
	CHECK(chmod(file, 0600) == 0);
	accepted(dir);
	if (geteuid() != 0)
		return;
	CHECK(chown(file, NOBODY, NOBODY) == 0);
	refused(dir, DLOCK_EDENIED, "belongs to user 65534");
}

CASE(file_directory, a_strange_umask_does_no_harm)
{
	const char *dir = store_dir();
	char sub[PATH_MAX + 16];
	struct stat st;

	snprintf(sub, sizeof(sub), "%s/d", dir);
	umask(0);
	accepted(sub);
	CHECK(stat(store_file(sub, "l", "x"), &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, 0600);
	CHECK(unlink(store_file(sub, "l", "x")) == 0);
	umask(0277);
	accepted(sub);
	CHECK(stat(store_file(sub, "l", "x"), &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, 0600);
	snprintf(sub, sizeof(sub), "%s/e", dir);
	accepted(sub);
	CHECK(stat(sub, &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, 0700);
}

CASE(file_directory, network_file_systems)
{
	CHECK(!strcmp(file_remote_fs(0x6969), "NFS"));
	CHECK(!strcmp(file_remote_fs(0xFF534D42), "CIFS"));
	CHECK(!strcmp(file_remote_fs(0xFE534D42), "SMB2"));
	CHECK(!strcmp(file_remote_fs(0x65735546), "FUSE"));
	CHECK(!strcmp(file_remote_fs(0x01021997), "9P"));
	CHECK(!strcmp(file_remote_fs(0x00C36400), "Ceph"));
	CHECK(!strcmp(file_remote_fs(0x5346414F), "AFS"));
	/* ext4, tmpfs, xfs, btrfs, overlayfs, none */
	CHECK(!file_remote_fs(0xEF53) && !file_remote_fs(0x01021994));
	CHECK(!file_remote_fs(0x58465342) && !file_remote_fs(0x9123683E));
	CHECK(!file_remote_fs(0x794C7630) && !file_remote_fs(0));
}
