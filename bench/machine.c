/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"
#include "bench/stop.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

volatile sig_atomic_t bench_stopped;

int64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int bench_over(int64_t until)
{
	return bench_stopped || bench_now() >= until;
}

void bench_sleep(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* The last CPU there is: the first is where most of the machine's own
 * interrupts go. */
void bench_pin(struct bench_run *r)
{
	cpu_set_t set;

	if (!r->pin || sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (size_t cpu = CPU_SETSIZE; cpu-- > 0;) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) == 0)
			r->cpu = (int)cpu;
		return;
	}
}

char *bench_path(const struct bench_run *r, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", r->dir, name) < 0 ? NULL : path;
}

static int plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("-._~/", c) != NULL;
}

char *bench_file_uri(const struct bench_run *r)
{
	static const char hex[] = "0123456789ABCDEF";
	char *uri = malloc(sizeof("file:///store") + 3 * strlen(r->dir));
	char *to = uri;

	if (!uri)
		return NULL;
	to = stpcpy(to, "file://");
	for (const char *p = r->dir; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (plain(*p)) {
			*to++ = *p;
		} else {
			*to++ = '%';
			*to++ = hex[c >> 4];
			*to++ = hex[c & 15];
		}
	}
	stpcpy(to, "/store");
	return uri;
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
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].magic == (uint32_t)fs.f_type)
			return known[i].name;
	}
	snprintf(other, sizeof(other), "0x%x", (unsigned int)fs.f_type);
	return other;
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif

const char *bench_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
	return "a build with a sanitizer";
#else
	return NULL;
#endif
}

const char *bench_no_time(void)
{
#ifndef __OPTIMIZE__
	return bench_sanitizer() ? bench_sanitizer() :
				   "a build without optimisation";
#else
	return bench_sanitizer();
#endif
}
