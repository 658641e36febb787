/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/crowd.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define SET_UP_NS (30000 * MS)
#define END_NS (30000 * MS)

int crowd_start(struct crowd *c, unsigned int n)
{
	pid_t parent = getpid();

	c->n = 0;
	c->shared = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared == MAP_FAILED)
		return bench_fail(c->run, "mmap: %s", strerror(errno));
	while (c->n < n) {
		pid_t child = fork();

		if (child < 0)
			return bench_fail(c->run, "fork: %s", strerror(errno));
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == parent &&
			    c->work(c, c->n + 1, c->arg) != 0)
				atomic_store(&c->shared->failed, 1);
			_exit(0);
		}
		c->pids[c->n++] = child;
	}
	return 0;
}

void crowd_gate(struct crowd *c)
{
	atomic_fetch_add(&c->shared->ready, 1);
	while (!atomic_load(&c->shared->begin) &&
	       !atomic_load(&c->shared->stop))
		bench_sleep(MS);
}

int crowd_begin(struct crowd *c)
{
	int64_t until = bench_now() + SET_UP_NS;

	while (atomic_load(&c->shared->ready) < c->n) {
		if (bench_over(until) || atomic_load(&c->shared->failed))
			return bench_fail(c->run, "the crowd does not come up");
		bench_sleep(MS);
	}
	atomic_store(&c->shared->begin, 1);
	return 0;
}

static void reap(struct crowd *c, unsigned int i, int64_t until)
{
	int status = 0;

	while (waitpid(c->pids[i], &status, WNOHANG) == 0) {
		if (bench_over(until)) {
			bench_fail(c->run, "one of the crowd does not end");
			kill(c->pids[i], SIGKILL);
			waitpid(c->pids[i], NULL, 0);
			return;
		}
		bench_sleep(MS);
	}
	if (WIFSIGNALED(status) && !c->mortal)
		bench_fail(c->run, "signal %d ended one of the crowd",
			   WTERMSIG(status));
}

int crowd_end(struct crowd *c)
{
	int64_t until = bench_now() + END_NS;
	int rc;

	if (c->shared == MAP_FAILED)
		return -1;
	atomic_store(&c->shared->stop, 1);
	for (unsigned int i = 0; i < c->n; i++)
		reap(c, i, until);
	rc = atomic_load(&c->shared->failed) ? -1 : 0;
	munmap(c->shared, sizeof(*c->shared));
	c->shared = MAP_FAILED;
	return rc;
}
