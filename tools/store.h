/* SPDX-License-Identifier: Apache-2.0 */
/* The store of the command line, the environment or dlock.conf. */
#ifndef DLOCK_TOOLS_STORE_H
#define DLOCK_TOOLS_STORE_H

#include "options.h"
#include "setting.h"

#include <dlock/dlock.h>

struct store {
	dlock_client *client;
	struct setting uri;     /* as given, password and all */
	struct setting require;
	uint32_t caps;          /* of `require` */
};

/* Find the URI: see setting.h.  A password in argv is wiped there.  0 or an
 * exit code, with a message; also if no URI is set anywhere. */
int store_choose(struct store *s, struct options *o);

/* Find the required capabilities: --require, $DLOCK_REQUIRE or dlock.conf.  0
 * or an exit code, with a message. */
int store_require(struct store *s, const struct options *o);

/* Print which store would be chosen and where it is named, without the command
 * line.  0 or an exit code, with a message. */
int store_explain(void);

/* Refuse a mem: store for a command that runs or holds: 0 or an exit code. */
int store_refuse_private(const struct store *s);

/* Overwrite the password of a URI in argv, once the URI has been copied, and
 * warn that a password does not belong there. */
void store_wipe_password(char *uri);

/* Open the store; it must have the caps of store_require().  `on_event` may be
 * NULL: the command takes no lock, and prints warnings only with -v.  0 or an
 * exit code, with a message. */
int store_open(struct store *s, const struct options *o,
	       dlock_event_fn on_event, void *arg);

/* Make the lock of the options' kind.  0 or an exit code. */
int store_lock(dlock_lock **out, const struct store *s,
	       const struct options *o, const char *name);

/* Close and forget; a zeroed store is fine. */
void store_close(struct store *s);

#endif
