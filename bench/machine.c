/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void bench_sleep(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* The last CPU there is: the first is where most of the machine's own
 * interrupts go. */
void bench_pin(void)
{
	cpu_set_t set;

	if (!run->pin || sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (size_t cpu = CPU_SETSIZE; cpu-- > 0;) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) == 0)
			run->cpu = (int)cpu;
		return;
	}
}

const char *bench_file_system(const char *path)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} known[] = {
		{ 0xef53, "ext4" },        { 0x01021994, "tmpfs" },
		{ 0x58465342, "xfs" },     { 0x9123683e, "btrfs" },
		{ 0x794c7630, "overlay" }, { 0x2fc12fc1, "zfs" },
		{ 0xf2f52010, "f2fs" },
	};
	static char other[16];
	struct statfs fs;

	if (statfs(path, &fs) != 0)
		return "unknown";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].magic == (uint32_t)fs.f_type)
			return known[i].name;
	snprintf(other, sizeof(other), "0x%x", (unsigned int)fs.f_type);
	return other;
}

static double resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

struct bench_memory bench_memory(void)
{
	struct mallinfo2 info = mallinfo2();

	return (struct bench_memory){
		.heap = (double)info.uordblks + (double)info.hblkhd,
		.resident = resident_bytes(),
	};
}
