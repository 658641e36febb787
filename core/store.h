/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the backend, all without the client's mu.
 */
#ifndef DLOCK_CORE_STORE_H
#define DLOCK_CORE_STORE_H

#include "core/client.h"

/* Make the `call` of the client's backend.  Behind it, the sink has the lines
 * logged by the backend in the calling thread.  A pump goes without: a thread
 * of the core's gives the lines to the sink, as with the lines of a store's own
 * threads. */
#define DLKI_STORE(client, call)                                               \
	do {                                                                   \
		struct dlki_log_bracket bracket_;                              \
                                                                               \
		if ((client)->log.sink)                                        \
			dlki_log_open(&bracket_, &(client)->log);              \
		call;                                                          \
		if ((client)->log.sink)                                        \
			dlki_log_close(&bracket_);                             \
	} while (0)

#endif
