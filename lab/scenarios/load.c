/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/load.h"
#include "lab/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read "some ... total=": microseconds since boot, of one kind of pressure. */
static int64_t waited_for(const char *path)
{
	FILE *in = fopen(path, "re");
	char line[256];
	const char *at = NULL;

	if (!in)
		return -1;
	/* Reading fails where the kernel's count is switched off. */
	if (fgets(line, sizeof(line), in) && !strncmp(line, "some ", 5))
		at = strstr(line, "total=");
	fclose(in);
	return at ? strtoll(at + 6, NULL, 10) : -1;
}

static int64_t waited(void)
{
	static const char *const paths[] = { "/proc/pressure/cpu",
					     "/proc/pressure/io",
					     "/proc/pressure/memory" };
	int64_t sum = 0;

	for (int i = 0; i < 3; i++) {
		int64_t us = waited_for(paths[i]);

		if (us < 0)
			return -1;
		sum += us;
	}
	return sum;
}

struct lab_load lab_load_begin(void)
{
	return (struct lab_load){ .begun = lab_now(), .waited_us = waited() };
}

/* Estimate, without the kernel's count: by how much more threads want to run
 * than can. */
static int by_load(void)
{
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double load;

	if (getloadavg(&load, 1) != 1 || load <= cpus)
		return 0;
	return (int)(100 * (load - cpus) / load);
}

int lab_load_percent(const struct lab_load *since)
{
	int64_t us = (lab_now() - since->begun) / 1000;
	int64_t now = since->waited_us < 0 ? -1 : waited();
	int64_t percent;

	if (now < 0)
		return by_load();
	percent = us > 0 ? 100 * (now - since->waited_us) / us : 0;
	return percent > 100 ? 100 : (int)percent;
}
