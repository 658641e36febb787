/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock-sim [SEED | FIRST-LAST] [--seeds N] [--seconds S] [--trace] [--check]
 *           [--minimise] [--save FILE] [--replay FILE]
 *
 * Run N seeds (1) from SEED (1) on, S virtual seconds (60) each.  --trace
 * prints what happens; --check runs each seed twice and compares; --save writes
 * the last run's draws, and --replay runs from such a file; --minimise looks
 * for a run with a fault and fewer draws that are not 0.  Ends with 1 if a
 * judge found a fault, if a run does not repeat, or if a seed showed nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/minimise.h"
#include "sim/run.h"

enum { MINIMISE_RUNS = 400 };

struct options {
	uint64_t seed, seeds;
	int64_t seconds;
	int traces, checks, minimises;
	const char *save, *replay;
};

static void read_seeds(struct options *o, const char *text)
{
	char *end;

	o->seed = strtoull(text, &end, 10);
	if (*end == '-')
		o->seeds = strtoull(end + 1, NULL, 10) - o->seed + 1;
}

static int read_options(struct options *o, char *argv[])
{
	for (argv++; *argv; argv++) {
		if (strcmp(*argv, "--trace") == 0)
			o->traces = 1;
		else if (strcmp(*argv, "--check") == 0)
			o->checks = 1;
		else if (strcmp(*argv, "--minimise") == 0)
			o->minimises = 1;
		else if (strcmp(*argv, "--seeds") == 0 && argv[1])
			o->seeds = strtoull(*++argv, NULL, 10);
		else if (strcmp(*argv, "--seconds") == 0 && argv[1])
			o->seconds = strtoll(*++argv, NULL, 10);
		else if (strcmp(*argv, "--save") == 0 && argv[1])
			o->save = *++argv;
		else if (strcmp(*argv, "--replay") == 0 && argv[1])
			o->replay = *++argv;
		else if (**argv != '-')
			read_seeds(o, *argv);
		else
			return -1;
	}
	return 0;
}

/* 0, or -1: a file is at fault, which is said. */
static int run(const struct options *o, uint64_t seed, struct sim_result *out)
{
	struct sim_chance chance;
	FILE *f;
	int rc = 0;

	sim_chance_begin(&chance, seed);
	if (o->replay) {
		f = fopen(o->replay, "re");
		rc = f ? sim_chance_replay(&chance, f) : -1;
		if (f)
			fclose(f);
	}
	if (rc == 0)
		*out = sim_run(&chance, o->seconds, o->traces ? stdout : NULL);
	if (rc == 0 && o->minimises && out->faults > 0)
		printf("%zu draws are not 0\n",
		       sim_minimise(&chance, o->seconds, MINIMISE_RUNS));
	if (rc == 0 && o->save) {
		f = fopen(o->save, "we");
		rc = f ? sim_chance_save(&chance, f) : -1;
		if (f && fclose(f) != 0)
			rc = -1;
	}
	sim_chance_end(&chance);
	if (rc != 0)
		fprintf(stderr, "dlock-sim: cannot use %s\n",
			o->replay ? o->replay : o->save);
	return rc;
}

static int judge(const struct options *o, uint64_t seed,
		 const struct sim_result *result)
{
	struct sim_result again = *result;
	int is_bad = result->faults > 0 || result->grants == 0;

	if (result->faults > 0)
		printf("seed %" PRIu64 ": %" PRIu64 " faults\n", seed,
		       result->faults);
	if (result->grants == 0)
		printf("seed %" PRIu64 ": no grant, so it shows nothing\n",
		       seed);
	if (o->checks && run(o, seed, &again) != 0)
		return 1;
	if (again.hash != result->hash) {
		printf("seed %" PRIu64 ": two runs differ\n", seed);
		is_bad = 1;
	}
	return is_bad;
}

int main(int argc, char *argv[])
{
	struct options o = { .seed = 1, .seeds = 1, .seconds = 60 };
	uint64_t hash = 0, grants = 0, events = 0, bad = 0;
	clock_t begin = clock();
	double cpu;

	(void)argc;
	if (read_options(&o, argv) != 0) {
		fprintf(stderr,
			"usage: dlock-sim [SEED | FIRST-LAST] [--seeds N] "
			"[--seconds S] [--trace] [--check] "
			"[--minimise] [--save FILE] [--replay FILE]\n");
		return 2;
	}
	for (uint64_t i = 0; i < o.seeds; i++) {
		struct sim_result result;

		if (run(&o, o.seed + i, &result) != 0)
			return 2;
		bad += judge(&o, o.seed + i, &result) != 0;
		hash = hash * UINT64_C(0x100000001b3) ^ result.hash;
		grants += result.grants;
		events += result.events;
	}
	cpu = (double)(clock() - begin) / CLOCKS_PER_SEC;
	printf("%" PRIu64 " seeds, %" PRIu64 " bad, hash %016" PRIx64
	       ", %" PRIu64 " grants, %" PRIu64 " events, %.2f s of CPU\n",
	       o.seeds, bad, hash, grants, events, cpu);
	return bad > 0;
}
