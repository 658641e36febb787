/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"
#include "bench/stop.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlock_config.h"

/* In the order in which they are run.  Those that fork come first: none may
 * have left a thread behind. */
static const struct bench *const benches[] = {
	&bench_file_handoff,
	&bench_file_pair,
#if DLOCK_HAVE_REDIS
	&bench_redis_handoff,
	&bench_redis_contended,
	&bench_redis_waiters,
	&bench_redis_pair,
	&bench_redis_threads,
	&bench_redis_holds,
#endif
#if DLOCK_HAVE_ZK
	&bench_zk_handoff,
	&bench_zk_waiters,
	&bench_zk_killed,
	&bench_zk_pair,
	&bench_zk_threads,
#endif
#ifdef BENCH_MEMCACHED
	&bench_memcached_handoff,
	&bench_memcached_waiters,
	&bench_memcached_pair,
	&bench_memcached_threads,
#endif
	&bench_mem_pair,
	&bench_mem_handoff,
	&bench_holds,
	&bench_threads_mem,
	&bench_open_close,
};
#define N_BENCHES (sizeof(benches) / sizeof(benches[0]))

enum { GOOD = 0, BAD = 1, USAGE = 2 };

struct options {
	int wanted[N_BENCHES];
	int some; /* --only was given */
	int check, json, list, pin;
	double seconds;
};

static void usage(FILE *to)
{
	fputs("usage: dlock-bench [--only NAME]... [--seconds S] [--json] "
	      "[--check]\n"
	      "                   [--no-pin] [--list] [--help]\n"
	      "  --only NAME   this one; may be given again\n"
	      "  --seconds S   to measure each, 0.1 to 3600 (default 3; with "
	      "--check 1)\n"
	      "  --json        one JSON object a line instead of a table\n"
	      "  --check       quick; fail if a target is missed by far, and "
	      "end with\n"
	      "                \"N passed, N failed, N skipped\" (with --json "
	      "on standard error)\n"
	      "  --no-pin      let the system place threads and processes\n"
	      "  --list        name what there is\n",
	      to);
}

static int want(struct options *o, const char *name)
{
	for (size_t i = 0; i < N_BENCHES; i++) {
		if (strcmp(benches[i]->name, name) == 0) {
			o->wanted[i] = o->some = 1;
			return GOOD;
		}
	}
	fprintf(stderr, "dlock-bench: no bench '%s'; --list shows them\n",
		name);
	return USAGE;
}

static int set_seconds(struct options *o, const char *text)
{
	char *end;

	o->seconds = strtod(text, &end);
	if (end != text && !*end && o->seconds >= 0.1 && o->seconds <= 3600)
		return GOOD;
	fprintf(stderr,
		"dlock-bench: --seconds %s: must be a number from 0.1 "
		"to 3600\n",
		text);
	return USAGE;
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "seconds", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "check", no_argument, NULL, 'c' },
		{ "no-pin", no_argument, NULL, 'n' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int rc = GOOD, c;

	for (c = getopt_long(argc, argv, "", known, NULL);
	     c != -1 && rc == GOOD;
	     c = getopt_long(argc, argv, "", known, NULL)) {
		switch (c) {
		case 'o':
			rc = want(o, optarg);
			break;
		case 's':
			rc = set_seconds(o, optarg);
			break;
		case 'j':
			o->json = 1;
			break;
		case 'c':
			o->check = 1;
			break;
		case 'n':
			o->pin = 0;
			break;
		case 'l':
			o->list = 1;
			break;
		case 'h':
			usage(stdout);
			exit(GOOD);
		default:
			rc = USAGE;
			break;
		}
	}
	if (rc == GOOD && optind < argc) {
		fprintf(stderr, "dlock-bench: '%s' is not an option\n",
			argv[optind]);
		rc = USAGE;
	}
	if (o->seconds == 0)
		o->seconds = o->check ? 1 : 3;
	return rc;
}

static int list(void)
{
	for (size_t i = 0; i < N_BENCHES; i++)
		printf("%-13s %s\n", benches[i]->name, benches[i]->summary);
	return GOOD;
}

/* ---- A place for files --------------------------------------------------- */

static int unlink_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static char *make_directory(void)
{
	const char *base = getenv("TMPDIR");
	char *path;

	if (!base || !*base)
		base = "/tmp";
	if (asprintf(&path, "%s/dlock-bench.XXXXXX", base) < 0)
		return NULL;
	if (mkdtemp(path))
		return path;
	fprintf(stderr,
		"dlock-bench: a directory in %s: %s; set TMPDIR to one "
		"that can be written\n",
		base, strerror(errno));
	free(path);
	return NULL;
}

/* ---- Running ------------------------------------------------------------- */

static const char *run_one(const struct bench *bench, const struct options *o,
			   const char *dir)
{
	struct bench_run r = {
		.bench = bench,
		.seconds = o->seconds,
		.check = o->check,
		.json = o->json,
		.pin = o->pin,
		.cpu = -1,
		.dir = dir,
	};
	const char *verdict = "passed";
	cpu_set_t before;
	int rc;

	sched_getaffinity(0, sizeof(before), &before);
	rc = bench->run(&r);
	sched_setaffinity(0, sizeof(before), &before);
	if (rc < 0 || r.errors > 0 || r.passed < r.judged)
		verdict = "FAILED";
	else if (r.skipped || r.emitted == 0)
		verdict = "skipped";
	if (r.errors > 0)
		fprintf(stderr, "dlock-bench: %s: %llu calls failed\n",
			bench->name, (unsigned long long)r.errors);
	bench_emit_end(&r, verdict);
	return verdict;
}

static int run_all(const struct options *o, const char *dir)
{
	unsigned int passed = 0, failed = 0, skipped = 0;

	for (size_t i = 0; i < N_BENCHES && !bench_stopped; i++) {
		const char *verdict;

		if (o->some && !o->wanted[i])
			continue;
		verdict = run_one(benches[i], o, dir);
		if (strcmp(verdict, "passed") == 0)
			passed++;
		else if (strcmp(verdict, "skipped") == 0)
			skipped++;
		else
			failed++;
	}
	if (o->check)
		fprintf(o->json ? stderr : stdout,
			"%u passed, %u failed, %u skipped\n", passed, failed,
			skipped);
	return failed > 0 ? BAD : GOOD;
}

static void on_signal(int signo)
{
	bench_stopped = signo;
}

int main(int argc, char **argv)
{
	struct options o = { .pin = 1 };
	struct sigaction act = { .sa_handler = on_signal };
	int rc = parse(&o, argc, argv);
	char *dir;

	if (rc != GOOD) {
		usage(stderr);
		return rc;
	}
	if (o.list)
		return list();
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	dir = make_directory();
	if (!dir)
		return BAD;
	rc = run_all(&o, dir);
	nftw(dir, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
	return bench_stopped ? 128 + bench_stopped : rc;
}
