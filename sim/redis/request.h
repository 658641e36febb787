/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the model Redis: arrays of strings in RESP2, or words in a line.
 */
#ifndef DLOCK_SIM_REDIS_REQUEST_H
#define DLOCK_SIM_REDIS_REQUEST_H

#include "sim/base/bytes.h"
#include "sim/redis/text.h"

/* Zeroed: empty; the owner frees argv. */
struct rm_request {
	size_t argc; /* 0: an empty request, which has no reply */
	struct rm_text *argv;
	size_t room;
	size_t len;  /* of the request */
};

enum rm_parsed {
	RM_COMPLETE,
	RM_PARTIAL,  /* the end has not come */
	RM_NONSENSE  /* *what is the reason, static */
};

/* Parse the first request in `in`.  A complete request borrows the bytes, and
 * writes zeroes behind the arguments; then the owner takes the request out of
 * `in`. */
enum rm_parsed rm_request_parse(const struct sim_bytes *in,
				struct rm_request *out, const char **what);

#endif
