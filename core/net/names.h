/* SPDX-License-Identifier: Apache-2.0 */
/* The names that are being resolved, each by a thread that may outlive its
 * callers, and their last answers: the inside of resolve.h. */
#ifndef DLOCK_CORE_NET_NAMES_H
#define DLOCK_CORE_NET_NAMES_H

#include <dlock/backend_net.h>

#include "core/net/answer.h"

/* Have a thread resolve the name, unless one is doing so.  *out is the answer,
 * or if none came by the deadline, the last good one.  0, or an error code if
 * there is neither. */
int dlki_names_ask(struct dlki_answer *out, const char *host, const char *port,
		   const dlk_flag *stop, dlk_time deadline,
		   struct dlk_error *err);

#endif
