/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the interpreter, which lives as long as the process.  A script
 * makes a hundred objects that are garbage when it ends, and malloc() was an
 * eighth of a run.
 */
#ifndef DLOCK_SIM_REDIS_LUA_MEMORY_H
#define DLOCK_SIM_REDIS_LUA_MEMORY_H

#include <stddef.h>

/* A lua_Alloc.  It never fails: without memory it says so and aborts. */
void *rm_lua_memory(void *arg, void *old, size_t old_size, size_t size);

#endif
