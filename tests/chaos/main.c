/* SPDX-License-Identifier: Apache-2.0 */
/* The controller; or a worker, with --worker. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "chaos/chaos.h"
#include "chaos/options.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"
#include "support/temp.h"

#define LEFT_MS 20000   /* for the last claims to go */
#define ENOUGH_MS 60000 /* for enough uses on a busy machine */
#define STEP_MS 100

enum { GOOD = 0, BAD = 1, USAGE = 2 };

static int start_all(struct chaos *c)
{
	char query[160];
	int n;

	if (temp_make(c->dir) < 0)
		return lab_fail("TMPDIR: %s", strerror(errno));
	c->counters = chaos_counters_map(c->dir);
	c->history = lab_history_open(c->dir);
	if (!c->counters || !c->history)
		return -1;
	n = snprintf(query, sizeof(query), "?ask=%" PRId64 "ms", c->o.ask_ms);
	if (c->o.store->leases)
		snprintf(query + n, sizeof(query) - (size_t)n,
			 "&ttl=%" PRId64 "ms", c->o.ttl_ms);
	if (c->o.store->start(c, query) < 0)
		return -1;
	if (chaos_mix_start(c) < 0)
		return -1;
	for (int i = 0; i < c->o.processes; i++) {
		c->victims[i].number = i;
		if (chaos_victim_start(c, &c->victims[i]) < 0)
			return -1;
	}
	return 0;
}

static int nothing_left(void *arg)
{
	struct chaos *c = arg;

	c->leftover = c->o.store->left(c);
	return c->leftover < 0 ? -1 : c->leftover == 0;
}

/* Some time without faults, in which all recover; and more of it until enough
 * was granted, written and refused. */
static int heal(struct chaos *c)
{
	int64_t end = lab_after_ms(ENOUGH_MS);

	if (chaos_schedule_run(c, lab_after_ms(3 * c->o.ttl_ms)) < 0)
		return -1;
	while (!c->worker_failed && !chaos_enough(c) && lab_now() < end)
		if (chaos_schedule_run(c, lab_after_ms(STEP_MS)) < 0)
			return -1;
	return 0;
}

/* A time with faults, a time without, and the end. */
static int run_all(struct chaos *c)
{
	c->begun = lab_now();
	chaos_schedule_init(c);
	if (chaos_schedule_run(c, c->begun + c->o.seconds * 1000 * LAB_MS) <
		    0 ||
	    chaos_schedule_end(c) < 0)
		return -1;
	chaos_say(c, "all is healed");
	if (heal(c) < 0)
		return -1;
	chaos_victims_end(c);
	chaos_mix_end(c);
	chaos_say(c, "all workers have ended");
	if (!c->o.store->left)
		return 0;
	if (lab_wait_until(lab_after_ms(c->o.ttl_ms + LEFT_MS), nothing_left,
			   c) < 0)
		return -1;
	lab_history_left(c->history, c->left, c->leftover);
	return 0;
}

static void stop_all(struct chaos *c)
{
	chaos_victims_kill(c);
	chaos_mix_end(c);
	if (c->o.store->stop)
		c->o.store->stop(c);
	for (int i = 0; i < CHAOS_PROXIES; i++)
		lab_proxy_free(c->proxies[i]);
	lab_server_free(c->server);
	if (c->counters)
		munmap(c->counters, sizeof(*c->counters));
}

/* With the histories of a failed run, keep the logs of the servers, which go
 * with the servers. */
static void keep_logs(const struct chaos *c)
{
	char command[2 * PATH_MAX];

	if (!c->o.keep || !*c->dir)
		return;
	snprintf(command, sizeof(command),
		 "i=0; for f in \"${TMPDIR:-/tmp}\"/dlock-lab.*/" LAB_LOG
		 "; do [ ! -e \"$f\" ] || cp \"$f\" '%s'/$((i += 1)).log; done",
		 c->dir);
	if (system(command) != 0)
		printf("the logs of the servers cannot be kept\n");
}

/* Keep the histories of a failed run, below the directory of --keep. */
static void keep_histories(struct chaos *c, bool good)
{
	char command[3 * PATH_MAX];
	char to[PATH_MAX];

	if (!good && c->o.keep) {
		snprintf(to, sizeof(to), "%s/chaos-%s-%" PRIu64, c->o.keep,
			 c->o.store->name, c->o.seed);
		mkdir(c->o.keep, 0700);
		if (rename(c->dir, to) == 0) {
			printf("histories are in %s\n", to);
			return;
		}
		snprintf(command, sizeof(command), "cp -R '%s' '%s'", c->dir,
			 to);
		printf("histories %s %s\n",
		       system(command) == 0 ? "are in" : "cannot be kept in",
		       to);
	}
	temp_remove(c->dir);
}

static int control(struct chaos *c)
{
	bool good = false;

	printf("chaos: store %s, seed %" PRIu64 ", %" PRId64
	       " s, %d processes of %d threads, ttl %" PRId64 " ms\n",
	       c->o.store->name, c->o.seed, c->o.seconds, c->o.processes,
	       c->o.threads, c->o.ttl_ms);
	fflush(stdout);
	if (start_all(c) < 0 || run_all(c) < 0) {
		printf("chaos: the lab is broken: %s\n"
		       "0 passed, 1 failed, 0 skipped\n",
		       lab_errmsg());
	} else {
		chaos_victims_kill(c);
		good = chaos_verdict(c);
	}
	if (!good) {
		printf("to repeat: --store %s --seconds %" PRId64
		       " --seed %" PRIu64 "\n",
		       c->o.store->name, c->o.seconds, c->o.seed);
		keep_logs(c);
	}
	stop_all(c);
	keep_histories(c, good);
	return good ? GOOD : BAD;
}

static int be_worker(char **argv)
{
	struct chaos_job job = {
		.uri = argv[0],
		.dir = argv[1],
		.seed = strtoull(argv[2], NULL, 10),
		.threads = (int)strtol(argv[3], NULL, 10),
		.ttl_ms = strtoll(argv[4], NULL, 10),
		.mix = strcmp(argv[5], "all") == 0,
	};

	return chaos_worker_main(&job);
}

int main(int argc, char **argv)
{
	static struct chaos c;
	int rc;

	if (argc == 8 && strcmp(argv[1], "--worker") == 0)
		return be_worker(argv + 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	rc = chaos_options(&c.o, argc, argv);
	if (rc)
		return rc < 0 ? USAGE : GOOD;
	return control(&c);
}
