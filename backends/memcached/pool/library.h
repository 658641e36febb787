/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmemcached, loaded for the first pool: the library needs the C++ runtime,
 * and linking to both would delay the start of every program by 1.3 ms, even
 * without a fleet.
 */
#ifndef DLOCK_MEMCACHED_LIBRARY_H
#define DLOCK_MEMCACHED_LIBRARY_H

#include <dlock/backend.h>
#include <libmemcached/memcached.h>

#define MEMC_FUNCTIONS(F)                                                      \
	F(memcached)                                                           \
	F(memcached_behavior_get)                                              \
	F(memcached_behavior_get_distribution)                                 \
	F(memcached_behavior_get_key_hash)                                     \
	F(memcached_behavior_set)                                              \
	F(memcached_callback_get)                                              \
	F(memcached_create)                                                    \
	F(memcached_free)                                                      \
	F(memcached_generate_hash)                                             \
	F(memcached_last_error_message)                                        \
	F(memcached_server_add_with_weight)                                    \
	F(memcached_server_count)                                              \
	F(memcached_server_instance_by_position)                               \
	F(memcached_server_name)                                               \
	F(memcached_server_port)                                               \
	F(libmemcached_check_configuration)                                    \
	F(libmemcached_string_hash)

struct memc_library {
#define MEMC_MEMBER(name) __typeof__(&name) name;
	MEMC_FUNCTIONS(MEMC_MEMBER)
#undef MEMC_MEMBER
};

/* Set by the first load, for the life of the process. */
extern struct memc_library dlki_libmemcached;

/* Load the library, once.  0, or ENOTSUP. */
int dlki_libmemcached_load(struct dlk_error *err);

#endif
