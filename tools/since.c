/* SPDX-License-Identifier: Apache-2.0 */
#include "since.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define YEAR_2020_MS INT64_C(1577836800000)
/* How far the store's clock may be ahead of ours. */
#define AHEAD_MS 60000

/* In seconds. */
#define MINUTE INT64_C(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t since_plausible(int64_t since_ms)
{
	return since_ms < YEAR_2020_MS || since_ms > now_ms() + AHEAD_MS ?
		       0 :
		       since_ms;
}

void since_local(char out[SINCE_SIZE], int64_t since_ms)
{
	time_t seconds = (time_t)(since_ms / 1000);
	struct tm tm;

	if (!since_ms || !localtime_r(&seconds, &tm) ||
	    !strftime(out, SINCE_SIZE, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(out, SINCE_SIZE, "-");
}

void since_utc(char out[SINCE_SIZE], int64_t since_ms)
{
	time_t seconds = (time_t)(since_ms / 1000);
	char day[24];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		day[0] = '\0';
	snprintf(out, SINCE_SIZE, "%s.%03dZ", day, (int)(since_ms % 1000));
}

int64_t since_age_ms(int64_t since_ms)
{
	int64_t age_ms = now_ms() - since_ms;

	return age_ms < 0 ? 0 : age_ms;
}

void since_age(char out[SINCE_SIZE], int64_t since_ms)
{
	int64_t age = since_age_ms(since_ms) / 1000;
	const char *unit = "s";

	if (age >= 2 * DAY) {
		age /= DAY;
		unit = "d";
	} else if (age >= 2 * HOUR) {
		age /= HOUR;
		unit = "h";
	} else if (age >= 2 * MINUTE) {
		age /= MINUTE;
		unit = "min";
	}
	snprintf(out, SINCE_SIZE, "%" PRId64 " %s", age, unit);
}
