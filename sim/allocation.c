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
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...);
void __wrap_free(void *p);

static struct {
	struct sim_chance *chance;
	uint64_t rate, longest, left;
} burst;
static int exhausted;
static uint64_t countdown;
static int64_t live;

/* The code of the ZooKeeper client library, which looks for no failure; absent
 * in a dlock without it. */
extern const char __start_dlki_zkc_code[] __attribute__((weak));
extern const char __stop_dlki_zkc_code[] __attribute__((weak));

static int is_ours(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	return at < (uintptr_t)__start_dlki_zkc_code ||
	       at >= (uintptr_t)__stop_dlki_zkc_code;
}

static int is_in_burst(void)
{
	if (burst.left == 0 && sim_happens(burst.chance, "memory", burst.rate))
		burst.left = 1 + sim_draw(burst.chance, "burst", burst.longest);
	return burst.left > 0 && burst.left--;
}

#define fails() fails_for(__builtin_return_address(0))

static int fails_for(const void *caller)
{
	if (sim_memory_is_ours || !is_ours(caller))
		return 0;
	return exhausted || (countdown > 0 && --countdown == 0) ||
	       is_in_burst();
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
	char *p = fails() ? NULL : counted(__real_malloc(size));

	return p ? memcpy(p, text, size) : NULL;
}

static int print(char **out, const char *format, va_list ap)
{
	int len = vasprintf(out, format, ap);

	live += len >= 0;
	return len;
}

int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list ap;
	int len;

	if (fails())
		return -1;
	va_start(ap, format);
	len = print(out, format, ap);
	va_end(ap);
	return len;
}

/* By _FORTIFY_SOURCE. */
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...)
{
	va_list ap;
	int len;

	(void)flag;
	if (fails())
		return -1;
	va_start(ap, format);
	len = print(out, format, ap);
	va_end(ap);
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

void sim_allocation_weather(struct sim_chance *chance, uint64_t rate,
			    uint64_t longest)
{
	burst.chance = chance;
	burst.rate = rate;
	burst.longest = longest;
	burst.left = 0;
}

void sim_allocation_exhaust(int on)
{
	exhausted = on;
}

int64_t sim_allocations(void)
{
	return live;
}
