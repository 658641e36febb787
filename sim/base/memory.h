/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the simulation.  Without memory a simulation cannot go on: these
 * functions say so on standard error and abort.
 */
#ifndef DLOCK_SIM_MEMORY_H
#define DLOCK_SIM_MEMORY_H

#include <stddef.h>

/* In a function below, which a test of failing allocations spares.  Volatile,
 * because compilers know that calloc() does not read it. */
extern volatile int sim_memory_is_ours;

/* Zeroed; free() it. */
void *sim_alloc(size_t size);

/* A larger array in the place of `old`, which may be NULL; free() it. */
void *sim_grow(void *old, size_t n, size_t size);

/* A copy of `len` bytes with a zero behind them; free() it. */
char *sim_copy(const char *bytes, size_t len);

/* Say that an assumption of the simulation does not hold, and abort. */
_Noreturn void sim_panic(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

#endif
