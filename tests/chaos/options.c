/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "support/wait.h"

static const struct chaos_store *const stores[] = {
	&chaos_file,
	&chaos_zk,
	&chaos_zk3,
};
#define TTL_MS 600
#define ASK_MS 100
#define LONG_RUN 60 /* seconds */
#define NSTORES (sizeof(stores) / sizeof(stores[0]))

static void usage(FILE *to)
{
	fputs("usage: chaos [OPTION]...\n"
	      "  --store NAME    file (the usual), zk, zk3\n"
	      "  --seconds N     of faults (20)\n"
	      "  --seed S        repeat the schedule of that run\n"
	      "  --processes N   that use locks (6)\n"
	      "  --threads N     of each (2)\n"
	      "  --slack TIME    a loss may be told so late (100ms)\n"
	      "  --keep DIR      keep the histories of a failed run there\n"
	      "  --mix WHAT      locks: acquire and release; all: every\n"
	      "                  feature (the usual from 60 seconds on)\n"
	      "  --verbose       tell each fault\n"
	      "Exit code 0: nothing was wrong, and enough has happened.\n",
	      to);
}

static int number(const char *text, int64_t min, int64_t max, const char *unit,
		  int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (*unit && strcmp(end, "s") == 0 && *out <= max / 1000) {
		*out *= 1000;
		end++;
	} else if (*unit && strcmp(end, unit) == 0) {
		end += strlen(unit);
	}
	if (!errno && end != text && !*end && *out >= min && *out <= max)
		return 0;
	fprintf(stderr,
		"chaos: '%s' is not in the range %" PRId64 "%s to %" PRId64
		"%s\n",
		text, min, unit, max, unit);
	return -1;
}

static int small(const char *text, int max, int *out)
{
	int64_t n;

	if (number(text, 1, max, "", &n) < 0)
		return -1;
	*out = (int)n;
	return 0;
}

static int store(struct chaos_options *o, const char *name)
{
	for (size_t i = 0; i < NSTORES; i++) {
		if (strcmp(stores[i]->name, name) == 0) {
			o->store = stores[i];
			return 0;
		}
	}
	fprintf(stderr, "chaos: no store '%s'\n", name);
	return -1;
}

static int seed(struct chaos_options *o, const char *text)
{
	char *end;

	errno = 0;
	o->seed = strtoull(text, &end, 10);
	if (!errno && end != text && !*end)
		return 0;
	fprintf(stderr, "chaos: '%s' is no seed\n", text);
	return -1;
}

static int mix(struct chaos_options *o, const char *name)
{
	if (strcmp(name, "all") == 0)
		o->mix = CHAOS_MIX_ALL;
	else if (strcmp(name, "locks") == 0)
		o->mix = CHAOS_MIX_LOCKS;
	else
		fprintf(stderr, "chaos: no mix '%s'\n", name);
	return o->mix == CHAOS_MIX_DEFAULT ? -1 : 0;
}

static int set_option(struct chaos_options *o, int c)
{
	switch (c) {
	case 's':
		return store(o, optarg);
	case 'n':
		return number(optarg, 1, 86400, "", &o->seconds);
	case 'S':
		return seed(o, optarg);
	case 'p':
		return small(optarg, CHAOS_WORKERS, &o->processes);
	case 't':
		return small(optarg, CHAOS_THREADS, &o->threads);
	case 'k':
		if (number(optarg, 0, 10000, "ms", &o->slack_ms) < 0)
			return -1;
		o->slack_ms *= slowness();
		return 0;
	case 'K':
		o->keep = optarg;
		return 0;
	case 'm':
		return mix(o, optarg);
	case 'v':
		o->verbose = true;
		return 0;
	case 'h':
		usage(stdout);
		return 1;
	default:
		usage(stderr);
		return -1;
	}
}

int chaos_options(struct chaos_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "store", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'S' },
		{ "processes", required_argument, NULL, 'p' },
		{ "threads", required_argument, NULL, 't' },
		{ "slack", required_argument, NULL, 'k' },
		{ "keep", required_argument, NULL, 'K' },
		{ "mix", required_argument, NULL, 'm' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	uint32_t drawn = 1;
	int rc = 0;
	int c;

	if (getrandom(&drawn, sizeof(drawn), 0) < 0)
		fputs("chaos: no randomness; the seed is 1\n", stderr);
	*o = (struct chaos_options){ .store = &chaos_file,
				     .seconds = 20,
				     .seed = drawn,
				     .processes = 6,
				     .threads = 2,
				     .slack_ms = 100 * slowness() };
	while (!rc && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = set_option(o, c);
	if (!rc && optind < argc) {
		fprintf(stderr, "chaos: what is '%s'?\n", argv[optind]);
		rc = -1;
	}
	o->ttl_ms = slowness() * (o->store->ttl_ms ? o->store->ttl_ms : TTL_MS);
	o->ask_ms = slowness() * (o->store->ask_ms ? o->store->ask_ms : ASK_MS);
	if (!rc && o->mix == CHAOS_MIX_DEFAULT)
		o->mix = o->seconds >= LONG_RUN ? CHAOS_MIX_ALL :
						  CHAOS_MIX_LOCKS;
	return rc;
}
