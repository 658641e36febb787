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
	      "  --ttl TIME      the lease (600ms; longer for zk)\n"
	      "  --ask TIME      the URI's ask time (100ms; zk: more)\n"
	      "  --slack TIME    a loss may be told so late (100ms)\n"
	      "  --query TEXT    more parameters for the URI: keep=1s\n"
	      "  --keep DIR      keep the histories of a failed run there\n"
	      "  --seldom N      percent of uses that go to a lock which is\n"
	      "                  left alone otherwise (1)\n"
	      "  --faults LIST   these alone: server-kill,worker-kill\n"
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
	int64_t n;

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
	case 'l':
		return number(optarg, 100, 60000, "ms", &o->ttl_ms);
	case 'a':
		return number(optarg, 10, 10000, "ms", &o->ask_ms);
	case 'k':
		if (number(optarg, 0, 10000, "ms", &o->slack_ms) < 0)
			return -1;
		o->slack_ms *= slowness();
		return 0;
	case 'q':
		o->query = optarg;
		return 0;
	case 'K':
		o->keep = optarg;
		return 0;
	case 'd':
		if (number(optarg, 0, 100, "", &n) < 0)
			return -1;
		o->seldom = (int)n;
		return 0;
	case 'f':
		o->only = optarg;
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

static bool has_fault(const struct chaos_store *s, const char *name, size_t len)
{
	for (int i = 0; i < CHAOS_TABLES; i++) {
		const struct chaos_fault *f = s->faults[i];

		for (; f && f->name; f++)
			if (strlen(f->name) == len &&
			    memcmp(f->name, name, len) == 0)
				return true;
	}
	return false;
}

/* A run with a fault of another store would deal no fault, and pass. */
static int known_faults(const struct chaos_options *o)
{
	const char *next;
	size_t len;

	for (const char *name = o->only; name; name = next) {
		len = strcspn(name, ",");
		next = name[len] ? name + len + 1 : NULL;
		if (has_fault(o->store, name, len))
			continue;
		fprintf(stderr, "chaos: store %s has no fault '%.*s'\n",
			o->store->name, (int)len, name);
		return -1;
	}
	return 0;
}

int chaos_options(struct chaos_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "store", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'S' },
		{ "processes", required_argument, NULL, 'p' },
		{ "threads", required_argument, NULL, 't' },
		{ "ttl", required_argument, NULL, 'l' },
		{ "ask", required_argument, NULL, 'a' },
		{ "slack", required_argument, NULL, 'k' },
		{ "query", required_argument, NULL, 'q' },
		{ "keep", required_argument, NULL, 'K' },
		{ "seldom", required_argument, NULL, 'd' },
		{ "faults", required_argument, NULL, 'f' },
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
				     .slack_ms = 100 * slowness(),
				     .seldom = 1,
				     .query = "" };
	while (!rc && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = set_option(o, c);
	if (!rc && optind < argc) {
		fprintf(stderr, "chaos: what is '%s'?\n", argv[optind]);
		rc = -1;
	}
	if (!rc)
		rc = known_faults(o);
	if (!rc && !o->ttl_ms)
		o->ttl_ms = slowness() *
			    (o->store->ttl_ms ? o->store->ttl_ms : TTL_MS);
	if (!rc && !o->ask_ms)
		o->ask_ms = slowness() *
			    (o->store->ask_ms ? o->store->ask_ms : ASK_MS);
	if (!rc && o->mix == CHAOS_MIX_DEFAULT)
		o->mix = o->seconds >= LONG_RUN ? CHAOS_MIX_ALL :
						  CHAOS_MIX_LOCKS;
	return rc;
}
