/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/process/sched.h"

/* A look at the clock takes so long. */
#define TICK_NS 100

static int64_t now;
static int traced;

int64_t sim_sched_now(void)
{
	return now;
}

int64_t sim_sched_tick(void)
{
	return now += TICK_NS;
}

void sim_clock_set(int64_t at)
{
	now = at;
}

static void print(const char *format, va_list ap)
{
	fprintf(stderr, "at %" PRId64 ".%06" PRId64 " ms: ", now / SIM_MS,
		now % SIM_MS);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void sim_sched_trace(int on)
{
	traced = on;
}

void sim_sched_tell(const char *format, ...)
{
	va_list ap;

	if (!traced)
		return;
	va_start(ap, format);
	print(format, ap);
	va_end(ap);
}

void sim_sched_fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print(format, ap);
	va_end(ap);
	_exit(1);
}
