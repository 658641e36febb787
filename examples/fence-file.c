/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence-file NAME FILE - write standard input's first line to FILE, under the
 * lock NAME; a holder that has lost the lock is refused, late as the write may
 * come.
 *
 * The lock keeps others away; the token guards the file.  The file's first
 * line has the token, and no holder with a smaller token may write.  Comparing
 * and writing must be one step: flock() makes them one.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <sys/file.h>
#include <unistd.h>

/* 0, or -1: a later holder was here. */
static int write_fenced(const char *path, uint64_t token, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), stale;
	char old[64] = "", new[1100];
	int n = snprintf(new, sizeof(new), "%llu\n%s",
			 (unsigned long long)token, text);

	if (fd < 0 || flock(fd, LOCK_EX) < 0 ||
	    pread(fd, old, sizeof(old) - 1, 0) < 0)
		err(EX_IOERR, "%s", path);
	stale = strtoull(old, NULL, 10) > token;
	if (!stale && (pwrite(fd, new, (size_t)n, 0) != n ||
		       ftruncate(fd, n) < 0 || fsync(fd) < 0))
		err(EX_IOERR, "%s", path);
	close(fd);
	return stale ? -1 : 0;
}

int main(int argc, char **argv)
{
	dlock_options options = DLOCK_OPTIONS_INIT;
	char line[1024] = "";
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;
	int rc = 0;

	if (argc != 3 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... fence-file NAME FILE");
	options.require = DLOCK_CAP_FENCE;
	if (dlock_open(&client, getenv("DLOCK_URI"), &options) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	if (dlock_acquire(lock, 10000, &hold) < 0)
		errx(EX_UNAVAILABLE, "%s", dlock_errmsg());
	fprintf(stderr, "token %llu\n", (unsigned long long)dlock_token(hold));
	/* However long this takes, and whatever happens to the lock. */
	if (!fgets(line, sizeof(line), stdin)) {
		warnx("no input; nothing was written");
		rc = EX_NOINPUT;
	} else if (write_fenced(argv[2], dlock_token(hold), line) < 0) {
		warnx("refused: somebody has had the lock since");
		rc = EX_TEMPFAIL;
	}
	if (dlock_release(hold) < 0)
		warnx("%s", dlock_errmsg());
	dlock_lock_free(lock);
	dlock_close(client);
	return rc;
}
