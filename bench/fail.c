/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void complain(const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "dlock-bench: %s: %s\n", run->bench->name, text);
}

/* A worker must not run inherited exit handlers. */
void bench_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (atomic_fetch_add(&run->errors, 1) == 0)
		complain(fmt, ap);
	va_end(ap);
	_exit(1);
}

void bench_fail_dlock(int rc, const char *doing)
{
	bench_fail("%s: %s: %s", doing, dlock_errname(rc), dlock_errmsg());
}

void bench_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	run->skipped = 1;
	_exit(0);
}

void bench_wait(int64_t until, const char *what)
{
	if (atomic_load(&run->errors) > 0)
		_exit(1);
	if (bench_now() >= until)
		bench_fail("%s", what);
}

void *bench_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		bench_fail("out of memory");
	return p;
}

void *bench_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bench_fail("mmap: %s", strerror(errno));
	return p;
}

void bench_thread(pthread_t *thread, void *(*main)(void *), void *arg)
{
	int rc = pthread_create(thread, NULL, main, arg);

	if (rc != 0)
		bench_fail("pthread_create: %s", strerror(rc));
}
