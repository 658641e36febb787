/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store that the command line and the environment name.
 */
#ifndef DLOCK_TOOLS_STORE_H
#define DLOCK_TOOLS_STORE_H

#include "options.h"

#include <dlock/dlock.h>

struct store {
	dlock_client *client;
	char *uri;            /* as it was asked for, password and all */
};

/*
 * Settle which URI is meant: -u, $DLOCK_URI, or file: in a directory of the
 * user, which is made.  A password in argv is wiped there.  0 or an exit code,
 * with a message.
 */
int store_choose(struct store *s, struct options *o);

/* Overwrite the password of a URI in argv, once that has been copied, and say
 * that it did not belong there. */
void store_wipe_password(char *uri);

/* Open it.  `on_event` may be NULL.  0 or an exit code, with a message. */
int store_open(struct store *s, const struct options *o,
	       dlock_event_fn on_event, void *arg);

/* The lock of the kind that the options name.  0 or an exit code. */
int store_lock(dlock_lock **out, const struct store *s,
	       const struct options *o, const char *name);

/* Close and forget; a zeroed store is fine. */
void store_close(struct store *s);

#endif
