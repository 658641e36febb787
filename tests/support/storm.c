/* SPDX-License-Identifier: Apache-2.0 */
#include "storm.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

static atomic_uint_least64_t caught;
static struct sigaction before;

static void catch_it(int sig)
{
	(void)sig;
	atomic_fetch_add(&caught, 1);
}

int storm_start(int64_t period_us)
{
	/* No SA_RESTART, which would hide the interrupts. */
	struct sigaction act = { .sa_handler = catch_it };
	struct itimerval every;

	every.it_interval.tv_sec = period_us / 1000000;
	every.it_interval.tv_usec = period_us % 1000000;
	every.it_value = every.it_interval;
	atomic_store(&caught, 0);
	if (sigaction(SIGALRM, &act, &before) < 0 ||
	    setitimer(ITIMER_REAL, &every, NULL) < 0)
		return -1;
	return 0;
}

uint64_t storm_stop(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	setitimer(ITIMER_REAL, &never, NULL);
	/* SIG_IGN drops a pending signal, which would kill. */
	sigaction(SIGALRM, &ignore, NULL);
	sigaction(SIGALRM, &before, NULL);
	return atomic_load(&caught);
}
