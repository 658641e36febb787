/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/allocation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_asprintf(char **out, const char *format, ...);
void __wrap_free(void *p);

static uint64_t countdown;
static int64_t live;

static int fails(void)
{
	return countdown > 0 && !sim_memory_is_ours && --countdown == 0;
}

static void *counted(void *p)
{
	live += p != NULL;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	void *new;

	if (fails())
		return NULL;
	new = __real_realloc(p, size);
	live += !p && new;
	return new;
}

char *__wrap_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *p = __wrap_malloc(size);

	return p ? memcpy(p, text, size) : NULL;
}

int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list ap;
	int len = -1;

	if (fails())
		return -1;
	va_start(ap, format);
	len = vasprintf(out, format, ap);
	va_end(ap);
	live += len >= 0;
	return len;
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

void sim_allocation_fail(uint64_t nth)
{
	countdown = nth;
}

int64_t sim_allocations(void)
{
	return live;
}
