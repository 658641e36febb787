/* SPDX-License-Identifier: Apache-2.0 */
/* A pool as the URI describes it.  Pure, and without libmemcached. */
#ifndef DLOCK_MEMCACHED_POOL_OPTIONS_H
#define DLOCK_MEMCACHED_POOL_OPTIONS_H

#include <dlock/backend.h>

/* The parameter `distribution`, in the order of the choices. */
enum memc_distribution {
	MEMC_MODULA,
	MEMC_CONSISTENT,
	MEMC_KETAMA,
	MEMC_KETAMA_WEIGHTED,
	MEMC_KETAMA_SPY
};

#define MEMC_DISTRIBUTIONS "modula|consistent|ketama|ketama_weighted|ketama_spy"

/* The parameter `hash`, in the order of libmemcached's memcached_hash_t. */
#define MEMC_HASHES                                                            \
	"default|md5|crc|fnv1_64|fnv1a_64|fnv1_32|fnv1a_32|hsieh|murmur|"      \
	"jenkins|murmur3"

enum { MEMC_WEIGHT_MAX = 1000 };

/* Rows for the table of parameters. */
#define MEMC_POOL_PARAMS                                                       \
	{ .name = "distribution",                                              \
	  .type = DLK_CHOICE,                                                  \
	  .def = "modula",                                                     \
	  .choices = MEMC_DISTRIBUTIONS,                                       \
	  .text = "Of a fleet: how libmemcached spreads names over the "       \
		  "servers." },                                                \
	{ .name = "hash",                                                      \
	  .type = DLK_CHOICE,                                                  \
	  .def = "default",                                                    \
	  .choices = MEMC_HASHES,                                              \
	  .text = "... and by which hash of the name; ketama_weighted has "    \
		  "md5 if none is given." },                                   \
	{ .name = "weights",                                                   \
	  .type = DLK_TEXT,                                                    \
	  .min = 1,                                                            \
	  .max = 500,                                                          \
	  .text = "... and the servers' weights, as in 3,1,1." },              \
	{ .name = "pool",                                                      \
	  .type = DLK_TEXT,                                                    \
	  .min = 1,                                                            \
	  .max = 4000,                                                         \
	  .text = "A fleet as an options string of libmemcached, as in "       \
		  "--SERVER=host:port --DISTRIBUTION=consistent; spaces are "  \
		  "written %20, '=' %3D and '?' %3F." }

/*
 * Check an options string of libmemcached before libmemcached parses it.
 * Options that say where keys are, or concern connections, are let through;
 * options that move keys between servers, read files or end the process are
 * refused.  0, or EINVAL.
 */
int dlki_memc_options_check(const char *options, struct dlk_error *err);

/* Return the weight of a server in an options string taken by libmemcached. */
uint32_t dlki_memc_options_weight(const char *options, const char *server,
				  uint16_t port);

/* Parse the weights of `n` servers, as in "3,1,1".  0, or EINVAL. */
int dlki_memc_weights_parse(const char *text, uint32_t *weights, size_t n,
			    struct dlk_error *err);

/* Is the pool given in one way, and does it make sense?  0, or EINVAL. */
int dlki_memc_pool_check(const struct dlk_uri *uri, struct dlk_error *err);

#endif
