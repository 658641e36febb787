/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int sim_memory_is_ours;

_Noreturn void sim_panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("sim: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

void *sim_alloc(size_t size)
{
	void *p;

	sim_memory_is_ours = 1;
	p = calloc(1, size);
	sim_memory_is_ours = 0;
	if (!p)
		sim_panic("out of memory");
	return p;
}

void *sim_grow(void *old, size_t n, size_t size)
{
	void *p;

	if (n > SIZE_MAX / size)
		sim_panic("out of memory");
	sim_memory_is_ours = 1;
	p = realloc(old, n * size);
	sim_memory_is_ours = 0;
	if (!p)
		sim_panic("out of memory");
	return p;
}

char *sim_copy(const char *bytes, size_t len)
{
	char *p = sim_alloc(len + 1);

	memcpy(p, bytes, len);
	return p;
}
