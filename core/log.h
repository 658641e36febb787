/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_CORE_LOG_H
#define DLOCK_CORE_LOG_H

#include <dlock/backend.h>

struct dlock_client;

enum { DLKI_ERROR, DLKI_WARNING, DLKI_INFO, DLKI_DEBUG };

/* Without the client's mu: the sink is the user's. */
void dlki_log(struct dlock_client *client, int level, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

#endif
