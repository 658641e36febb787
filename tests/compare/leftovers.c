/* SPDX-License-Identifier: Apache-2.0 */
/* A trial's effect on a server does not disturb the next trial. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compare/drive.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/redis.h"

TestSuite(leftovers, .init = drive_init, .timeout = 120);

/* The server seems to stop answering once full. */
static int fill_fails(struct lab_sut *s)
{
	drive_kind("redis")->fill(s);
	return lab_fail("not filled");
}

static int flush_fails(struct lab_sut *s)
{
	(void)s;
	return lab_fail("not flushed");
}

/* Run `only` on the kind given; skip if the store is missing. */
static struct lab_findings *with_kind(const struct lab_sut_kind *kind,
				      const char *only)
{
	const struct lab_sut_kind *kinds[] = { kind, NULL };
	struct lab_findings *f = drive((struct lab_compare_options){
		.lab = true, .kinds = kinds, .only = only });

	if (f->n_stores < 3)
		cr_skip_test("%s: is not built in", kind->scheme);
	return f;
}

Test(leftovers, a_server_that_was_left_full_is_not_for_the_next_trial)
{
	struct lab_sut_kind full = *drive_kind("redis");
	struct lab_findings *f;

	full.fill = fill_fails;
	full.flush = flush_fails;
	f = with_kind(&full, "server-full,fork");
	drive_is(f, "redis", "server-full", LAB_OUTCOME_NOT_RUN);
	drive_is(f, "redis", "fork", LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

static int never_as_started(struct lab_sut *s)
{
	(void)s;
	return lab_fail("it is haunted");
}

Test(leftovers, a_server_out_of_order_is_not_tried)
{
	struct lab_sut_kind haunted = *drive_kind("redis");
	struct lab_findings *f;

	haunted.as_started = never_as_started;
	f = with_kind(&haunted, "server-full,fork,try");
	for (size_t b = 0; b < f->n_scenarios; b++) {
		const char *id = f->scenarios[b].id;

		drive_is(f, "redis", id, LAB_OUTCOME_NOT_RUN);
		cr_assert(strstr(drive_found(f, "redis", id)->why,
				 "it is haunted"));
	}
	drive_is(f, "mem", "try", LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

/* ---- A server under every trial ------------------------------------------ */

static struct lab_sut sut;

static void start(const char *name)
{
	sut.kind = drive_kind(name);
	if (lab_sut_start(&sut) < 0) {
		if (strstr(lab_errmsg(), "not found"))
			cr_skip_test("%s", lab_errmsg());
		cr_assert_fail("%s", lab_errmsg());
	}
}

/* Through the proxies. */
static bool answers(void)
{
	const struct lab_sut_kind *kind = sut.kind;
	const struct lab_exchange *first = kind->hello.len ? &kind->hello :
							     &kind->ping;
	struct lab_address to;
	bool all = true;

	for (size_t i = 0; i < sut.n_nodes; i++) {
		int64_t deadline = lab_after_ms(10000);
		struct pollfd p = { .events = POLLIN };

		to.port = lab_proxy_port(sut.proxies[i]);
		p.fd = lab_connect(&to, deadline);
		cr_assert_geq(p.fd, 0, "%s", lab_errmsg());
		lab_send(p.fd, first->send, first->len, deadline);
		all &= poll(&p, 1, lab_poll_ms(deadline)) > 0;
		close(p.fd);
	}
	return all;
}

static void resets(void)
{
	int rc = lab_sut_reset(&sut);

	cr_assert_eq(rc, 0, "%s", lab_errmsg());
	cr_assert(answers(), "nothing is answered");
}

static void is_freed_of_faults(const char *name)
{
	start(name);
	cr_assert_eq(lab_sut_pause(&sut), 0);
	resets();
	cr_assert_eq(lab_sut_kill(&sut), 0);
	resets();
	for (size_t i = 0; i < sut.n_nodes; i++) {
		lab_proxy_hole(sut.proxies[i], LAB_DOWN, true);
		lab_proxy_refuse(sut.proxies[i], true);
		lab_proxy_swallow(sut.proxies[i], NULL, LAB_THEN_RESET);
	}
	resets();
}

static void is_emptied(void)
{
	int starts = sut.nodes[0]->starts;

	resets();
	cr_assert_eq(sut.nodes[0]->starts, starts, "for no reason");
	cr_assert_eq(sut.kind->fill(&sut), 0, "%s", lab_errmsg());
	resets();
	cr_assert_eq(sut.nodes[0]->starts, starts + 1);
	cr_assert_eq(sut.kind->as_started(&sut), 0);
}

Test(leftovers, redis_is_freed_of_them)
{
	int64_t now;

	is_freed_of_faults("redis");
	is_emptied();
	lab_redis_do(sut.nodes[0], NULL, 0, "CONFIG SET maxmemory 0");
	resets();
	cr_assert_gt(lab_redis_info(sut.nodes[0], "maxmemory"), 0);
	if (sut.wall) {
		now = lab_redis_time_ms(sut.nodes[0]);
		lab_sut_step_wall(&sut, 3600000);
		resets();
		cr_assert_lt(lab_redis_time_ms(sut.nodes[0]), now + 1800000);
	}
	lab_sut_stop(&sut);
}

/* A flush gives no page back. */
Test(leftovers, memcached_is_freed_of_them)
{
	is_freed_of_faults("memcached");
	is_emptied();
	cr_assert_eq(sut.kind->fill(&sut), 0);
	cr_assert_eq(sut.kind->flush(&sut), 0);
	cr_assert_lt(sut.kind->as_started(&sut), 0);
	resets();
	lab_sut_stop(&sut);
}

Test(leftovers, zookeeper_is_freed_of_them)
{
	is_freed_of_faults("zk");
	lab_sut_stop(&sut);
}

Test(leftovers, three_zookeepers_are_freed_of_them)
{
	is_freed_of_faults("zk-3");
	lab_sut_stop(&sut);
}

Test(leftovers, a_disk_without_room_is_told)
{
	/* Writes fail, as on a full disk. */
	struct rlimit none = { 0, RLIM_INFINITY };
	struct rlimit before;

	snprintf(sut.files, sizeof(sut.files), "%s",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	cr_assert_eq(lab_sut_reset(&sut), 0, "%s", lab_errmsg());
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	cr_assert_lt(lab_sut_reset(&sut), 0);
	setrlimit(RLIMIT_FSIZE, &before);
	cr_assert(strstr(lab_errmsg(), sut.files), "%s", lab_errmsg());
}

/* ---- Another trial's server ---------------------------------------------- */

/* A lock by redis-cli, which waits a while for a full server before ready:
 * another trial must not fill this server. */
static const char lock[] =
	"hp={redis}\n"
	"ask() { redis-cli -h ${hp%:*} -p ${hp#*:} \"$@\" 2>&1; }\n"
	"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do\n"
	"	case $(ask set probe x) in *OOM*) break;; esac\n"
	"	sleep 0.1\n"
	"done\n"
	"echo ready redis-cli\n"
	"while read verb name ms; do case $verb in\n"
	"acquire)\n"
	"	took=$name\n"
	"	case $(ask set $name x nx px 5000) in\n"
	"	OK) echo ok;;\n"
	"	'') echo busy;;\n"
	"	*) echo error no memory;;\n"
	"	esac;;\n"
	"release) ask del $took >/dev/null; echo ok;;\n"
	"quit) break;;\n"
	"*) echo none;;\n"
	"esac; done\n";

Test(leftovers, a_server_in_another_trial_is_left_alone)
{
	const struct lab_sut_kind *kinds[] = { drive_kind("redis"), NULL };
	const char *command = lock;
	struct lab_findings *f = drive(
		(struct lab_compare_options){ .lab = true,
					      .kinds = kinds,
					      .commands = &command,
					      .n_commands = 1,
					      .only = "try,server-full" });
	const char *foreign = f->stores[f->n_stores - 1].name;

	if (f->n_stores < 4)
		cr_skip_test("redis: is not built in");
	cr_assert_str_eq(f->stores[f->n_stores - 1].server, "redis-cli");
	drive_is(f, foreign, "try", LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

Test(leftovers, what_a_server_is_known_by_is_left_by_no_lock)
{
	struct lab_findings *f = with_kind(drive_kind("memcached"),
					   "left-behind");

	drive_is(f, "memcached", "left-behind", LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}
