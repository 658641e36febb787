/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From handle to handle, with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_MOVE_H
#define DLOCK_BACKENDS_ZK_MOVE_H

#include "backends/zk/zk.h"

/* Return when another handle must replace this handle.  If not after now, call
 * dlki_zk_move(). */
dlk_time dlki_zk_move_due(struct zk_session *s);
/* For the session's job.  The session is unlocked meanwhile. */
void dlki_zk_move(struct zk_session *s);

#endif
