/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	void *p = calloc(1, size);

	if (!p)
		sim_panic("out of memory");
	return p;
}

void *sim_grow(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n, size);

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
