/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs DIRECTORY COMMAND - a worker of many on a queue of jobs: run COMMAND
 * with each file of DIRECTORY, and remove the file when that succeeds.
 *
 * A lock for each job, only tried: a worker skips the jobs of other workers,
 * and never waits for them.  A job whose worker dies is found again.
 */
#include <dirent.h>
#include <dlock/dlock.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char *command, char *path)
{
	char *argv[] = { command, path, NULL };
	int status = -1;
	pid_t pid;

	errno = posix_spawnp(&pid, command, NULL, NULL, argv, environ);
	if (errno || waitpid(pid, &status, 0) < 0)
		warn("%s", command);
	return status;
}

/* 1: this worker did it. */
static int try_job(dlock_client *client, char *command, char *path)
{
	dlock_lock *lock;
	dlock_hold *hold;
	int rc, did = 0;

	if (dlock_mutex_new(&lock, client, path) < 0)
		errx(EX_DATAERR, "%s: %s", path, dlock_errmsg());
	rc = dlock_acquire(lock, 0, &hold);
	if (rc < 0 && rc != DLOCK_EBUSY)
		errx(EX_UNAVAILABLE, "%s: %s", path, dlock_errmsg());
	if (rc == DLOCK_OK) {
		/* It may have been done since the directory was read. */
		if (access(path, F_OK) == 0 && run(command, path) == 0 &&
		    dlock_check(hold) == DLOCK_OK)
			did = unlink(path) == 0;
		if (dlock_release(hold) < 0)
			warnx("%s: %s", path, dlock_errmsg());
	}
	dlock_lock_free(lock);
	return did;
}

int main(int argc, char **argv)
{
	DIR *dir = argc == 3 ? opendir(argv[1]) : NULL;
	dlock_client *client;
	char path[PATH_MAX];
	struct dirent *e;
	int did = 0;

	if (!dir || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... jobs DIRECTORY COMMAND");
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		if (e->d_name[0] != '.')
			did += try_job(client, argv[2], path);
	}
	closedir(dir);
	printf("%d done\n", did);
	dlock_close(client);
	return 0;
}
