/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock-sim [SEED | FIRST-LAST] [--store redis|memcached] [--seeds N]
 *           [--seconds S] [--bad N] [--trace] [--check] [--minimise]
 *           [--save FILE] [--replay FILE]
 *
 * Run N seeds (1) from SEED on, with weather of S virtual seconds (10) each.
 * Without SEED the seeds follow from the text in DLOCK_SIM_BASE, or begin at 1.
 *
 * --bad ends with the N-th bad seed; --trace prints the events; --check runs
 * every 20th seed twice and compares; --save writes the last run's draws, and
 * --replay runs from such a file; --minimise looks for a run with a fault and
 * fewer draws that are not 0.  A seed is bad if a judge found a fault, if the
 * run does not repeat, or if there was no grant or no conflict.  Ends with 1 if
 * a seed is bad.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/seeds.h"
#include "sim/minimise.h"
#include "sim/run.h"

enum { MINIMISE_RUNS = 400, CHECK_EVERY = 20 };

struct options {
	struct sim_seeds seeds;
	uint64_t bad;
	int64_t seconds;
	int traces, checks, minimises;
	const char *save, *replay;
	const struct sim_store *store;
};

struct sums {
	uint64_t seeds, bad, hash, grants, events;
	int64_t ms;
};

/* ---- Options ------------------------------------------------------------- */

static int read_number(char ***argv, const char *name, uint64_t *out)
{
	if (strcmp(**argv, name) != 0 || !(*argv)[1])
		return 0;
	*out = strtoull(*++*argv, NULL, 10);
	return 1;
}

static int read_text(char ***argv, const char *name, const char **out)
{
	if (strcmp(**argv, name) != 0 || !(*argv)[1])
		return 0;
	*out = *++*argv;
	return 1;
}

static int read_flag(char **argv, const char *name, int *out)
{
	if (strcmp(*argv, name) != 0)
		return 0;
	*out = 1;
	return 1;
}

static int read_options(struct options *o, char *argv[])
{
	const char *store = "redis";
	uint64_t seconds = 10;

	for (argv++; *argv; argv++) {
		if (read_flag(argv, "--trace", &o->traces) ||
		    read_flag(argv, "--check", &o->checks) ||
		    read_flag(argv, "--minimise", &o->minimises) ||
		    read_number(&argv, "--seeds", &o->seeds.n) ||
		    read_number(&argv, "--seconds", &seconds) ||
		    read_number(&argv, "--bad", &o->bad) ||
		    read_text(&argv, "--store", &store) ||
		    read_text(&argv, "--save", &o->save) ||
		    read_text(&argv, "--replay", &o->replay))
			continue;
		if (sim_seeds_read(&o->seeds, *argv) != 0)
			return -1;
	}
	o->seconds = (int64_t)seconds;
	o->store = sim_store_find(store);
	return o->store ? 0 : -1;
}

/* ---- Runs ---------------------------------------------------------------- */

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
		*out = sim_run(o->store, &chance, o->seconds,
			       o->traces ? stdout : NULL);
	if (rc == 0 && o->minimises && out->faults > 0)
		printf("%zu draws are not 0\n",
		       sim_minimise(o->store, &chance, o->seconds,
				    MINIMISE_RUNS));
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

/* Why a seed is bad, or NULL. */
static const char *judge(const struct options *o, uint64_t seed,
			 const struct sim_result *result, int checks)
{
	struct sim_result again = *result;

	if (result->faults > 0)
		return result->fault;
	if (result->grants == 0 || result->conflicts == 0)
		return "no grant or no conflict, so it shows nothing";
	if (checks && run(o, seed, &again) != 0)
		return "it does not run again";
	return again.hash == result->hash ? NULL : "two runs differ";
}

/* 0, or -1 as run(). */
static int run_all(const struct options *o, struct sums *sums)
{
	for (uint64_t i = 0; i < o->seeds.n && sums->bad < o->bad; i++) {
		struct sim_result result;
		const char *why;

		if (run(o, o->seeds.first + i, &result) != 0)
			return -1;
		why = judge(o, o->seeds.first + i, &result,
			    o->checks && i % CHECK_EVERY == 0);
		if (why)
			printf("seed %" PRIu64 ": %s; see dlock-sim %" PRIu64
			       " --store %s --seconds %" PRId64 " --trace\n",
			       o->seeds.first + i, why, o->seeds.first + i,
			       o->store->name, o->seconds);
		sums->seeds++;
		sums->bad += why != NULL;
		sums->hash = sums->hash * UINT64_C(0x100000001b3) ^ result.hash;
		sums->grants += result.grants;
		sums->events += result.events;
		sums->ms += result.ms;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	struct options o = { .seeds = sim_seeds_default(), .bad = UINT64_MAX };
	struct sums sums = { 0 };
	clock_t begin = clock();

	(void)argc;
	if (read_options(&o, argv) != 0) {
		fprintf(stderr,
			"usage: dlock-sim [SEED | FIRST-LAST] [--store STORE] "
			"[--seeds N] [--seconds S] [--bad N] [--trace] "
			"[--check] [--minimise] [--save FILE] "
			"[--replay FILE]\n");
		return 2;
	}
	if (o.seeds.base)
		printf("base %s\n", o.seeds.base);
	if (run_all(&o, &sums) != 0)
		return 2;
	printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64
	       " bad, hash %016" PRIx64 ", %" PRIu64 " grants, %" PRIu64
	       " events, %.0f virtual s, %.2f s of CPU\n",
	       o.seeds.first, o.seeds.first + sums.seeds - 1, sums.bad,
	       sums.hash, sums.grants, sums.events, (double)sums.ms / 1000,
	       (double)(clock() - begin) / CLOCKS_PER_SEC);
	return sums.bad > 0;
}
