/* SPDX-License-Identifier: Apache-2.0 */
/*
 * downloads PERMITS COMMAND URL... - run COMMAND with each URL, all at once,
 * but never more than PERMITS of them on all hosts together.
 *
 * A semaphore's permit belongs to no thread: a thread may
 * release the hold of another thread.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sysexits.h>
#include <sys/wait.h>
#include <unistd.h>

static dlock_lock *permits;
static char *command;

static void *download(void *url)
{
	char *argv[] = { command, url, NULL };
	int status = -1;
	dlock_hold *hold;
	pid_t pid;

	if (dlock_acquire(permits, -1, &hold) < 0) {
		warnx("%s: %s", (char *)url, dlock_errmsg());
		return "";
	}
	errno = posix_spawnp(&pid, command, NULL, NULL, argv, environ);
	if (errno || waitpid(pid, &status, 0) < 0)
		warn("%s", command);
	if (dlock_release(hold) < 0)
		warnx("%s: %s", (char *)url, dlock_errmsg());
	return status == 0 ? NULL : "";
}

int main(int argc, char **argv)
{
	dlock_client *client;
	pthread_t *threads;
	int failed = 0, n = argc - 3;
	void *result;

	if (n < 1 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... "
			       "downloads PERMITS COMMAND URL...");
	command = argv[2];
	threads = calloc((size_t)n, sizeof(threads[0]));
	if (!threads)
		err(EX_OSERR, "calloc");
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0 ||
	    dlock_semaphore_new(&permits, client, "downloads",
				(uint32_t)strtoul(argv[1], NULL, 10)) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	for (int i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, download, argv[i + 3]))
			errx(EX_OSERR, "no thread for %s", argv[i + 3]);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], &result);
		failed += result != NULL;
	}
	if (failed)
		warnx("%d of %d failed", failed, n);
	free(threads);
	dlock_lock_free(permits);
	dlock_close(client);
	return failed ? EX_UNAVAILABLE : 0;
}
