/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock-sim-process [SEED | FIRST-LAST] [--seeds N] [--check] [--bad N]
 *                   [--store mem|redis|memcached|fleet|zk] [--scarce]
 *
 * Play N seeds (1) from SEED on, a process for each.  Without SEED the seeds
 * follow from the text in DLOCK_SIM_BASE, or begin at 1.  A single seed tells
 * the weather and the events.  --check plays every 10th seed twice and
 * compares; --bad ends with the N-th bad seed; --scarce has allocations of the
 * library fail.  Ends with 1 if a seed is bad.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/seeds.h"
#include "sim/process/play.h"
#include "sim/process/scene.h"

/* A longer play does not end.  The process may be one of many. */
enum { CPU_S = 60, REAL_S = 600, CHECK_EVERY = 10 };

struct options {
	struct sim_seeds seeds;
	uint64_t bad;
	int checks, scarce;
	const struct sim_scene *scene;
};

/* In a build for coverage: store the counts, which _exit() drops. */
extern void __gcov_dump(void) __attribute__((weak));

/* The child's part. */
static void play(const struct options *o, uint64_t seed, int tells, int to)
{
	static const struct itimerval most = { .it_value.tv_sec = CPU_S };
	struct sim_outcome out;

	alarm(REAL_S);
	setitimer(ITIMER_PROF, &most, NULL);
	sim_play_seed(seed, tells, o->scene, o->scarce, &out);
	if (write(to, &out, sizeof(out)) != sizeof(out))
		_exit(2);
	if (__gcov_dump)
		__gcov_dump();
	_exit(0);
}

/* 0; or why the seed is bad. */
static const char *run(const struct options *o, uint64_t seed, int tells,
		       struct sim_outcome *out)
{
	int fds[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fds) < 0)
		return "no pipe";
	pid = fork();
	if (pid == 0)
		play(o, seed, tells, fds[1]);
	close(fds[1]);
	n = read(fds[0], out, sizeof(*out));
	close(fds[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return "no process";
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ||
				       WTERMSIG(status) == SIGPROF ?
			       "no end" :
			       "a crash";
	return status == 0 && n == sizeof(*out) ? NULL : "a flaw was found";
}

static const char *run_and_check(const struct options *o, uint64_t seed,
				 struct sim_outcome *out)
{
	struct sim_outcome again;
	const char *why = run(o, seed, o->seeds.n == 1, out);

	if (!why && o->checks && seed % CHECK_EVERY == 0)
		why = run(o, seed, 0, &again);
	else
		again = *out;
	if (!why && again.hash != out->hash)
		why = "the second run differs";
	return why;
}

static int read_options(struct options *o, char **argv)
{
	while (*++argv) {
		if (strcmp(*argv, "--check") == 0)
			o->checks = 1;
		else if (strcmp(*argv, "--scarce") == 0)
			o->scarce = 1;
		else if (strcmp(*argv, "--bad") == 0 && argv[1])
			o->bad = strtoull(*++argv, NULL, 10);
		else if (strcmp(*argv, "--seeds") == 0 && argv[1])
			o->seeds.n = strtoull(*++argv, NULL, 10);
		else if (strcmp(*argv, "--store") == 0 && argv[1])
			o->scene = sim_scene_find(*++argv);
		else if (sim_seeds_read(&o->seeds, *argv) != 0)
			return -1;
	}
	return o->scene ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct options o = { .seeds = sim_seeds_default(),
			     .bad = UINT64_MAX,
			     .scene = &sim_mem_scene };
	uint64_t bad = 0, grants = 0, draws = 0, hash = 0, n = 0;
	int64_t ms = 0;

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (read_options(&o, argv) < 0) {
		fprintf(stderr,
			"usage: dlock-sim-process [SEED | FIRST-LAST] "
			"[--seeds N] [--check] [--bad N] "
			"[--store mem|redis|memcached|fleet|zk] [--scarce]\n");
		return 2;
	}
	for (; n < o.seeds.n && bad < o.bad; n++) {
		struct sim_outcome out = { 0 };
		uint64_t seed = o.seeds.first + n;
		const char *why = run_and_check(&o, seed, &out);

		if (why)
			printf("seed %" PRIu64 ": %s\n", seed, why);
		bad += why != NULL;
		grants += out.grants;
		draws += out.draws;
		ms += out.ms;
		hash = (hash ^ out.hash) * UINT64_C(0x100000001b3);
	}
	printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " bad, %" PRIu64
	       " grants, %" PRIu64 " draws, %" PRId64
	       " virtual ms, hash %016" PRIx64 "\n",
	       o.seeds.first, o.seeds.first + n - 1, bad, grants, draws, ms,
	       hash);
	return bad > 0 || grants == 0;
}
