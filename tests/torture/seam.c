/* SPDX-License-Identifier: Apache-2.0 */
#include "torture/torture.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/timerfd.h>

static atomic_int armed; /* an enum seam */
static atomic_long left;
static atomic_int fired;
static int fail_all, fail_errno;
static atomic_long blocks;

void seam_arm(enum seam seam, long k, int errnum, int all)
{
	atomic_store(&fired, 0);
	atomic_store(&left, k);
	fail_errno = errnum;
	fail_all = all;
	atomic_store(&armed, (int)seam);
}

int seam_disarm(void)
{
	atomic_store(&armed, SEAM_NONE);
	return atomic_load(&fired);
}

long seam_blocks(void)
{
	return atomic_load(&blocks);
}

/* Is this the call to fail? */
static int fails(enum seam seam)
{
	long now;

	if (atomic_load(&armed) != (int)seam)
		return 0;
	now = atomic_fetch_sub(&left, 1);
	if (now > 1 || (now < 1 && !fail_all))
		return 0;
	atomic_store(&fired, 1);
	errno = fail_errno;
	return 1;
}

static void *counted(void *block)
{
	if (block)
		atomic_fetch_add(&blocks, 1);
	return block;
}

/* The linker's names for the calls of `f` and for __real_f. */
#define WRAP(type, f, ...)                                                     \
	type __real_##f(__VA_ARGS__);                                          \
	type __wrap_##f(__VA_ARGS__);                                          \
	type __wrap_##f(__VA_ARGS__)

WRAP(void *, malloc, size_t size)
{
	return fails(SEAM_MEMORY) ? NULL : counted(__real_malloc(size));
}

WRAP(void *, calloc, size_t n, size_t size)
{
	return fails(SEAM_MEMORY) ? NULL : counted(__real_calloc(n, size));
}

WRAP(void *, realloc, void *old, size_t size)
{
	if (fails(SEAM_MEMORY))
		return NULL;
	return old ? __real_realloc(old, size) :
		     counted(__real_realloc(old, size));
}

WRAP(void *, reallocarray, void *old, size_t n, size_t size)
{
	if (fails(SEAM_MEMORY))
		return NULL;
	return old ? __real_reallocarray(old, n, size) :
		     counted(__real_reallocarray(old, n, size));
}

WRAP(char *, strdup, const char *text)
{
	return fails(SEAM_MEMORY) ? NULL : counted(__real_strdup(text));
}

WRAP(char *, strndup, const char *text, size_t n)
{
	return fails(SEAM_MEMORY) ? NULL : counted(__real_strndup(text, n));
}

int __wrap_asprintf(char **out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

int __wrap_asprintf(char **out, const char *fmt, ...)
{
	va_list args;
	int n;

	if (fails(SEAM_MEMORY))
		return -1;
	va_start(args, fmt);
	n = vasprintf(out, fmt, args);
	va_end(args);
	if (n >= 0)
		counted(*out);
	return n;
}

WRAP(void, free, void *block)
{
	if (block)
		atomic_fetch_sub(&blocks, 1);
	__real_free(block);
}

/* The C library allocates and frees the nodes uncounted. */
WRAP(void *, tsearch, const void *key, void **root,
     int (*compare)(const void *a, const void *b))
{
	return fails(SEAM_MEMORY) ? NULL : __real_tsearch(key, root, compare);
}

WRAP(ssize_t, getrandom, void *out, size_t size, unsigned int flags)
{
	if (fails(SEAM_GETRANDOM))
		return fail_errno ? -1 : 0;
	/* In pieces, as the kernel may do it. */
	return __real_getrandom(out, size > 300 ? 300 : size, flags);
}

WRAP(int, timerfd_create, int clock, int flags)
{
	return fails(SEAM_TIMERFD) ? -1 : __real_timerfd_create(clock, flags);
}

WRAP(int, eventfd, unsigned int value, int flags)
{
	return fails(SEAM_EVENTFD) ? -1 : __real_eventfd(value, flags);
}

WRAP(int, epoll_create1, int flags)
{
	return fails(SEAM_EPOLL_CREATE) ? -1 : __real_epoll_create1(flags);
}

WRAP(int, epoll_ctl, int epfd, int op, int fd, struct epoll_event *event)
{
	return fails(SEAM_EPOLL_CTL) ? -1 :
				       __real_epoll_ctl(epfd, op, fd, event);
}

WRAP(int, pthread_create, pthread_t *out, const pthread_attr_t *attr,
     void *(*run)(void *arg), void *arg)
{
	if (fails(SEAM_THREAD))
		return fail_errno;
	return __real_pthread_create(out, attr, run, arg);
}

WRAP(void *, mmap, void *at, size_t size, int prot, int flags, int fd,
     off_t offset)
{
	if (fails(SEAM_MMAP))
		return MAP_FAILED;
	return __real_mmap(at, size, prot, flags, fd, offset);
}

WRAP(int, madvise, void *at, size_t size, int advice)
{
	return fails(SEAM_MADVISE) ? -1 : __real_madvise(at, size, advice);
}

int seam_thread(pthread_t *out, void *(*run)(void *arg), void *arg)
{
	return __real_pthread_create(out, NULL, run, arg);
}
