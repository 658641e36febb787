/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of some faults alone: do these exist, and have any come? */
#include <criterion/criterion.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "chaos/chaos.h"
#include "chaos/options.h"
#include "lab/base/fail.h"
#include "support/temp.h"

TestSuite(faults, .timeout = 60);

static struct chaos c;
static FILE *said;

/* Have the output to `fd` in a file from now on. */
static void listen_to(int fd)
{
	said = tmpfile();
	cr_assert(said);
	cr_assert_eq(dup2(fileno(said), fd), fd);
}

static const char *heard(void)
{
	static char text[8192];

	fflush(NULL);
	rewind(said);
	text[fread(text, 1, sizeof(text) - 1, said)] = '\0';
	return text;
}

static int options(char *store, char *faults)
{
	char *argv[] = { "chaos", "--faults", faults, "--store", store, NULL };

	optind = 1;
	return chaos_options(&c.o, 5, argv);
}

Test(faults, are_those_of_the_store)
{
	cr_expect_eq(options("file", "worker-kill"), 0);
	cr_expect_eq(options("file", "worker-kill,worker-pause-short"), 0);
	cr_expect_eq(options("zk", "server-kill,worker-kill"), 0);
}

Test(faults, that_do_not_exist_are_named)
{
	listen_to(STDERR_FILENO);
	cr_expect_eq(options("file", "worker-kil"), -1);
	cr_expect_eq(options("file", "worker-kill,worker-killer,x"), -1);
	cr_expect_eq(options("file", "server-kill"), -1);
	cr_expect_eq(options("file", "worker-kill,"), -1);
	cr_expect_eq(options("file", ""), -1);
	cr_expect_str_eq(heard(),
			 "chaos: store file has no fault 'worker-kil'\n"
			 "chaos: store file has no fault 'worker-killer'\n"
			 "chaos: store file has no fault 'server-kill'\n"
			 "chaos: store file has no fault ''\n"
			 "chaos: store file has no fault ''\n");
}

/* Judge a run without operations. */
static void judge_idle_run(void)
{
	cr_assert_eq(temp_make(c.dir), 0);
	c.counters = chaos_counters_map(c.dir);
	c.history = lab_history_open(c.dir);
	cr_assert(c.counters && c.history, "%s", lab_errmsg());
	listen_to(STDOUT_FILENO);
	cr_expect_not(chaos_verdict(&c));
	temp_remove(c.dir);
}

#define NONE "FAIL: none of the faults that were asked for was dealt"

Test(faults, that_were_asked_for_and_never_dealt_are_a_failure)
{
	cr_assert_eq(options("file", "worker-kill,worker-pause-short"), 0);
	chaos_schedule_init(&c);
	judge_idle_run();
	cr_expect(strstr(heard(), NONE), "%s", heard());
}

Test(faults, one_that_was_dealt_is_enough)
{
	cr_assert_eq(options("file", "worker-kill,worker-pause-short"), 0);
	chaos_schedule_init(&c);
	c.deck[CHAOS_VICTIMS].dealt[1] = 1;
	judge_idle_run();
	cr_expect_not(strstr(heard(), NONE), "%s", heard());
}

Test(faults, need_not_come_if_none_was_asked_for)
{
	char *argv[] = { "chaos", "--store", "file", NULL };

	cr_assert_eq(chaos_options(&c.o, 3, argv), 0);
	chaos_schedule_init(&c);
	judge_idle_run();
	cr_expect_not(strstr(heard(), NONE), "%s", heard());
}
