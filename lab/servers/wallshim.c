/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a server, shifts the server's wall clock by the nanoseconds in
 * the file of DLOCK_LAB_WALL, at the moment of each call.  Other clocks are
 * left alone.
 *
 * The shim asks the kernel for the real time: a lookup of libc's functions may
 * allocate, and the server's allocator asks for the time.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
#define SECOND INT64_C(1000000000)

/* As lab/servers/wall.h has them. */
static _Atomic int64_t *shift, *left, *then;

__attribute__((constructor)) static void find_shift(void)
{
	const char *path = getenv("DLOCK_LAB_WALL");
	void *page;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	page = mmap(NULL, 3 * sizeof(*shift), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return;
	shift = page;
	left = shift + 1;
	then = shift + 2;
}

SHOWN int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns;

	if (syscall(SYS_clock_gettime, id, ts) < 0)
		return -1;
	if (!shift || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return 0;
	if (*left > 0 && atomic_fetch_sub(left, 1) == 1)
		*shift = *then;
	ns = ts->tv_sec * SECOND + ts->tv_nsec + *shift;
	if (ns < 0)
		ns = 0;
	ts->tv_sec = ns / SECOND;
	ts->tv_nsec = ns % SECOND;
	return 0;
}

SHOWN int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts) < 0)
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

SHOWN time_t time(time_t *out)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) < 0)
		return -1;
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}
