/* SPDX-License-Identifier: Apache-2.0 */
/* The root is the URI's path: a lasting node.  With the session locked. */
#ifndef DLOCK_BACKENDS_ZK_ROOT_H
#define DLOCK_BACKENDS_ZK_ROOT_H

#include "backends/zk/zk.h"

/* Make the missing root and all missing nodes above.  0, also if another client
 * makes the root; EINVAL with create=off; EPROTO without a path in the URI;
 * EDENIED; EUNREACHABLE; ENOMEM. */
int dlki_zk_root_make(struct zk_session *s, dlk_time deadline,
		      struct dlk_error *err);

#endif
