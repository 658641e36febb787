/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uv N COMMAND NAME... - in a loop of libuv, run COMMAND with every NAME under
 * the lock of that name, and at most N at once.
 */
#include <dlock/uv.h>
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

static struct job {
	uv_process_t process; /* first: a process is its job */
	dlock_lock *lock;     /* NULL: the end of the queue */
	dlock_hold *hold;
	char *argv[3];
} * next;
static long limit, under_way, failed;
static uv_poll_t watcher;

static void go_on(void);

static void released(const struct dlock_result *r, void *job)
{
	if (r->code)
		warnx("%s: %s", ((struct job *)job)->argv[1], r->message);
	failed |= r->code != 0;
	under_way--;
	go_on();
}

static void exited(uv_process_t *process, int64_t status, int sig)
{
	struct job *j = (struct job *)process;

	if (status < 0)
		warnx("%s: %s", j->argv[0], uv_strerror((int)status));
	failed |= status || sig;
	uv_close((uv_handle_t *)process, NULL);
	if (dlock_release_start(j->hold, released, j) < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
}

static void granted(const struct dlock_result *r, void *job)
{
	struct job *j = job;
	int rc;
	uv_stdio_container_t io[3] = { [1] = { UV_INHERIT_FD, { .fd = 1 } },
				       [2] = { UV_INHERIT_FD, { .fd = 2 } } };
	uv_process_options_t o = { .exit_cb = exited, .args = j->argv };

	o.file = j->argv[0];
	o.stdio = io;
	o.stdio_count = 3;
	j->hold = r->hold;
	rc = j->hold ? uv_spawn(uv_default_loop(), &j->process, &o) : 0;
	if (!j->hold)
		released(r, job);
	else if (rc < 0)
		exited(&j->process, rc, 0);
}

static void go_on(void)
{
	for (; next->lock && under_way < limit; next++, under_way++)
		if (dlock_acquire_start(next->lock, -1, granted, next, NULL))
			errx(EX_OSERR, "%s", dlock_errmsg());
	if (under_way == 0)
		dlock_uv_stop(&watcher);
}

int main(int argc, char **argv)
{
	struct job *jobs = next = calloc((size_t)argc, sizeof(*jobs));
	dlock_client *client;

	limit = argc < 4 ? 0 : strtol(argv[1], NULL, 10);
	if (!jobs || limit < 1 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... uv N COMMAND NAME...");
	if (dlock_open(&client, getenv("DLOCK_URI"), NULL) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	for (int i = 0; i < argc - 3; i++) {
		jobs[i].argv[0] = argv[2];
		jobs[i].argv[1] = argv[3 + i];
		if (dlock_mutex_new(&jobs[i].lock, client, argv[3 + i]) < 0 ||
		    dlock_lock_unbind(jobs[i].lock) < 0)
			errx(EX_DATAERR, "%s", dlock_errmsg());
	}
	if (dlock_uv_start(&watcher, uv_default_loop(), client) < 0)
		errx(EX_OSERR, "%s", dlock_errmsg());
	go_on();
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	while (next > jobs)
		dlock_lock_free((--next)->lock);
	dlock_close(client);
	free(jobs);
	return failed ? EX_TEMPFAIL : 0;
}
