/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/shortage.h"

#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

/* Allocations until the failing allocation; 0: all succeed. */
static _Thread_local long fail_at;

static int fails(void)
{
	return fail_at > 0 && --fail_at == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void shortage_at(long n)
{
	fail_at = n;
}

int shortage_came(void)
{
	return fail_at == 0;
}
