/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_CORE_ASYNC_CLOSE_H
#define DLOCK_CORE_ASYNC_CLOSE_H

#include "core/client.h"

/* In dlock_process() of a client without threads: open or close the client, if
 * dlock_open_start() or dlock_close_start() has begun that.  Waits for the
 * store. */
void dlki_open_or_close(struct dlock_client *client);

#endif
