/* SPDX-License-Identifier: Apache-2.0 */
/* Backends in shared objects: loads, and the messages of refusals.  Each module
 * is a build of tests/modules/store.c. */
#include "core/support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp.h"

TestSuite(module, .timeout = 30);

static const char *built(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/modules/%s.so",
		 getenv("DLOCK_TEST_DIR"), name);
	return path;
}

static void refused_as(const char *file, int code, const char *why)
{
	cr_assert_eq(dlock_backend_load(file), code, "%s: %s", file,
		     dlock_errmsg());
	cr_assert(strstr(dlock_errmsg(), why), "%s: %s", file, dlock_errmsg());
}

/* Copies the good module to `path`. */
static void copy_to(const char *path)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command), "cp '%s' '%s'", built("good"), path);
	cr_assert_eq(system(command), 0);
}

Test(module, may_be_loaded_twice_and_opened)
{
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	cr_assert_eq(dlock_open(&c, "module-good:", NULL), DLOCK_EINVAL);
	OK(dlock_backend_load(built("good")));
	OK(dlock_backend_load(built("good")));
	OK(dlock_open(&c, "module-good:", NULL));
	OK(dlock_mutex_new(&l, c, "a"));
	OK(dlock_acquire(l, 0, &h));
	OK(dlock_release(h));
	dlock_lock_free(l);
	dlock_close(c);
}

Test(module, that_cannot_be_used_is_refused)
{
	refused_as(NULL, DLOCK_EINVAL, "no file is named");
	refused_as("", DLOCK_EINVAL, "no file is named");
	refused_as("/no/such/file.so", DLOCK_EINVAL, "No such file");
	refused_as("/proc/self/comm", DLOCK_EINVAL, "comm");
	refused_as(built("none"), DLOCK_EINVAL, "DLOCK_MODULE()");
	refused_as(built("minor"), DLOCK_EINVAL, "compiled against dlock 0.0");
	refused_as(built("major"), DLOCK_EINVAL, "compiled against dlock 9.");
	refused_as(built("ticket"), DLOCK_EINVAL, "another build");
	refused_as(built("session"), DLOCK_EINVAL, "another build");
	refused_as(built("empty"), DLOCK_EINVAL, "none of DLOCK_MODULE()'s");
	refused_as(built("size"), DLOCK_EINVAL, "none of DLOCK_MODULE()'s");
	refused_as(built("nameless"), DLOCK_EINVAL, "nameless.so: ");
	refused_as(built("taken"), DLOCK_EINVAL,
		   "taken.so (mem): the scheme 'mem' is taken by dlock's own "
		   "store");
}

/* The message names the file with the scheme, and the file refused. */
Test(module, that_has_the_scheme_of_another_is_refused)
{
	char dir[PATH_MAX], file[PATH_MAX + 16];

	cr_assert_eq(dlock_backend_load(built("good")), 0);
	cr_assert_eq(temp_make(dir), 0);
	snprintf(file, sizeof(file), "%s/store.so", dir);
	copy_to(file);
	refused_as(file, DLOCK_EINVAL,
		   "store.so (module-good): the scheme "
		   "'module-good' is taken by ");
	cr_assert(strstr(dlock_errmsg(), "good.so"), "%s", dlock_errmsg());
	temp_remove(dir);
}

/* A long path would leave no room for the reason. */
Test(module, that_is_refused_is_named_by_a_short_name)
{
	char dir[PATH_MAX], deep[PATH_MAX + 100], file[PATH_MAX + 120];

	OK(dlock_backend_load(built("good")));
	cr_assert_eq(temp_make(dir), 0);
	snprintf(deep, sizeof(deep), "%s/%090d", dir, 0);
	cr_assert_eq(mkdir(deep, 0755), 0);
	snprintf(file, sizeof(file), "%s/store.so", deep);
	copy_to(file);
	refused_as(file, DLOCK_EINVAL, "store.so (module-good): the scheme");
	cr_assert_eq(strncmp(dlock_errmsg(), "store.so", 8), 0, "%s",
		     dlock_errmsg());
	temp_remove(dir);
}

/* The library loads no code that another user may replace. */
Test(module, that_others_may_write_is_refused)
{
	char dir[PATH_MAX], file[PATH_MAX + 16];

	cr_assert_eq(temp_make(dir), 0);
	snprintf(file, sizeof(file), "%s/store.so", dir);
	copy_to(file);
	cr_assert_eq(chmod(file, 0775), 0);
	refused_as(file, DLOCK_EDENIED, "store.so: another user may write");
	cr_assert_eq(chmod(file, 0755), 0);
	cr_assert_eq(chmod(dir, 0777), 0);
	refused_as(file, DLOCK_EDENIED, "another user may write");
	if (geteuid() == 0) {
		cr_assert_eq(chmod(dir, 0755), 0);
		cr_assert_eq(chown(file, 1, 1), 0);
		refused_as(file, DLOCK_EDENIED, "store.so");
		cr_assert_eq(chown(file, 0, 0), 0);
	}
	cr_assert_eq(chmod(dir, 0755), 0);
	cr_assert_eq(dlock_backend_load(file), 0, "%s", dlock_errmsg());
	temp_remove(dir);
}
