/* SPDX-License-Identifier: Apache-2.0 */
/* A holder is killed.  Nobody tells the server, which waits for the
 * time-out. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "support/process.h"

TestSuite(zk_death, .timeout = 120);

#define TTL_MS 1000
#define TICK_MS 100

/* Forked before this process has any thread. */
static pid_t hold_elsewhere(int port)
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK_INT(pipe(ready), ==, 0);
	pid = fork();
	CHECK_INT(pid, >=, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take(mutex(client(port, "?ttl=1s"), "lock"), PATIENCE);
		if (write(ready[1], "", 1) != 1)
			_exit(CHECK_FAILED);
		for (;;)
			pause();
	}
	close(ready[1]);
	CHECK_INT(read(ready[0], &byte, 1), ==, 1);
	close(ready[0]);
	return pid;
}

static int64_t hand_over(struct lab_server *s)
{
	pid_t holder = hold_elsewhere(s->port);
	dlock_client *c = client(s->port, "?ttl=20s");
	struct taker w = { 0 };
	int64_t begun;

	taker_start(&w, mutex(c, "lock"), PATIENCE);
	EVENTUALLY(stats(c).waiters == 1);
	begun = now_ms();
	process_kill(holder);
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	begun = now_ms() - begun;
	cr_log_info("handed over after %lld ms", (long long)begun);
	end_now(c);
	return begun;
}

CASE(zk_death, hands_over_within_the_time_out_and_a_tick)
{
	struct lab_zk_options o = { .tick_ms = TICK_MS };
	struct lab_server *s = server(&o);

	CHECK_WITHIN(hand_over(s), TTL_MS + TICK_MS + slack_ms());
}
