/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The URI of a Redis store: parameters and place.  Pure.
 */
#ifndef DLOCK_REDIS_URI_H
#define DLOCK_REDIS_URI_H

#include <dlock/backend.h>

enum { RD_DEFAULT_PORT = 6379 };

extern const struct dlk_param dlki_redis_params[];

/* The server is at a unix socket with the URI's path. */
int dlki_redis_uri_is_unix(const struct dlk_uri *uri);

/* 0, or EINVAL.  *db: the number of the database. */
int dlki_redis_uri_check(const struct dlk_uri *uri, uint32_t *db,
			 struct dlk_error *err);

#endif
