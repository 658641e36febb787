/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/password.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/dlock-password-XXXXXX";
static char file[sizeof(dir) + 8], link_[sizeof(dir) + 8];
static struct dlk_error err;
static char *password;

static void begin(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(link_, sizeof(link_), "%s/link", dir);
}

static void end(void)
{
	dlki_password_free(password);
	unlink(link_);
	unlink(file);
	rmdir(file);
	cr_assert_eq(rmdir(dir), 0);
}

TestSuite(password, .init = begin, .fini = end);

static void put(const void *text, size_t len, mode_t mode)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, len), (ssize_t)len);
	cr_assert_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void expect(const char *text, const char *expected)
{
	put(text, strlen(text), 0600);
	cr_expect_eq(dlki_password_read(&password, file, &err), 0, "%s",
		     err.text);
	cr_assert_not_null(password);
	cr_expect_str_eq(password, expected);
	dlki_password_free(password);
	password = NULL;
}

static void expect_refused(const char *path, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "password_file '%s' %s", path, why);
	cr_expect_eq(dlki_password_read(&password, path, &err), DLOCK_EINVAL);
	cr_expect_eq(err.code, DLOCK_EINVAL);
	cr_expect_str_eq(err.text, text);
	cr_expect_null(password);
}

Test(password, is_the_first_line)
{
	expect("pass word", "pass word");
	expect("secret\n", "secret");
	expect("secret\nand a remark\n", "secret");
	expect("p\xc3\xa4ss@:/?#%\n", "p\xc3\xa4ss@:/?#%");
}

Test(password, of_4096_bytes_is_read_whole)
{
	char text[4097];

	memset(text, 'x', sizeof(text));
	text[4096] = '\0';
	expect(text, text);
	text[4096] = 'x';
	put(text, sizeof(text), 0600);
	expect_refused(file, "is longer than 4096 bytes");
}

Test(password, nobody_else_may_use_the_file)
{
	static const mode_t modes[] = { 0640, 0604, 0620, 0602, 0610, 0601 };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		put("secret", 6, modes[i]);
		expect_refused(file, "may be used by others; chmod it to 600");
	}
	put("secret", 6, 0400);
	cr_expect_eq(dlki_password_read(&password, file, &err), 0);
}

Test(password, a_line_must_be_there)
{
	put("", 0, 0600);
	expect_refused(file, "has nothing in its first line");
	put("\nsecret\n", 8, 0600);
	expect_refused(file, "has nothing in its first line");
}

Test(password, a_line_must_be_text)
{
	static const char *const bad[] = { "secret\r\n", "se\tcret", "\xff\n",
					   "secret\x7f" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(bad[i], strlen(bad[i]), 0600);
		expect_refused(file, "has a first line that is not UTF-8 "
				     "without control characters");
	}
	put("se\0cret", 7, 0600);
	expect_refused(file, "has a first line that is not UTF-8 without "
			     "control characters");
}

Test(password, only_regular_files_count)
{
	put("secret", 6, 0600);
	cr_assert_eq(symlink(file, link_), 0);
	expect_refused(link_, "is a symbolic link; name the file that it "
			      "points to");
	unlink(file);
	cr_assert_eq(mkfifo(file, 0600), 0);
	expect_refused(file, "is not a regular file");
	unlink(file);
	cr_assert_eq(mkdir(file, 0700), 0);
	expect_refused(file, "is not a regular file");
	expect_refused("/dev/null", "is not a regular file");
	expect_refused(dir, "is not a regular file");
}

Test(password, a_file_that_cannot_be_read)
{
	expect_refused(file, "cannot be read: No such file or directory");
	expect_refused("", "cannot be read: No such file or directory");
	/* A regular file of this user, of length 0. The first page is not
	 * mapped. */
	expect_refused("/proc/self/mem", "cannot be read: Input/output error");
}

/* Only root can give the file to another user. */
Test(password, a_strangers_file)
{
	put("secret", 6, 0600);
	if (geteuid() != 0)
		cr_skip_test("needs to be root");
	cr_assert_eq(chown(file, 12345, (gid_t)-1), 0);
	expect_refused(file, "belongs to another user");
}

Test(password, a_file_that_may_not_be_read)
{
	put("secret", 6, 0600);
	if (geteuid() != 0)
		cr_skip_test("needs to be root");
	cr_assert_eq(chmod(dir, 0711), 0);
	cr_assert_eq(seteuid(12345), 0);
	expect_refused(file, "cannot be read: Permission denied");
	cr_assert_eq(seteuid(0), 0);
}

/* The kernel lets this user read root's files, as a capability would. */
Test(password, may_be_in_roots_file)
{
	put("secret", 6, 0600);
	if (geteuid() != 0)
		cr_skip_test("needs to be root");
	cr_assert_eq(seteuid(12345), 0);
	setfsuid(0);
	cr_expect_eq(dlki_password_read(&password, file, &err), 0, "%s",
		     err.text);
	cr_assert_eq(seteuid(0), 0);
}

Test(password, without_descriptors_it_is_not_the_uris_fault)
{
	struct rlimit none = { 0, 0 }, before;

	put("secret", 6, 0600);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	cr_expect_eq(dlki_password_read(&password, file, &err),
		     DLOCK_EEXHAUSTED);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

Test(password, leaves_no_descriptor_open)
{
	int before = dup(0);

	close(before);
	expect("secret", "secret");
	put("secret", 6, 0644);
	cr_expect_eq(dlki_password_read(&password, file, NULL), DLOCK_EINVAL);
	cr_expect_eq(dup(0), before);
	close(before);
}

Test(password, a_copy_must_be_text_too)
{
	cr_expect_eq(dlki_password_copy(&password, "s3cret", &err), 0);
	cr_expect_str_eq(password, "s3cret");
	dlki_password_free(password);
	password = NULL;
	cr_expect_eq(dlki_password_copy(&password, "s3cret\n", &err),
		     DLOCK_EINVAL);
	cr_expect_str_eq(err.text,
			 "byte 7 of the password is a control character");
	dlki_password_free(NULL);
}
