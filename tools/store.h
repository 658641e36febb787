/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store that the command line, the environment or dlock.conf names.
 */
#ifndef DLOCK_TOOLS_STORE_H
#define DLOCK_TOOLS_STORE_H

#include "options.h"
#include "setting.h"

#include <dlock/dlock.h>

struct store {
	dlock_client *client;
	struct setting uri;     /* as it was asked for, password and all */
	struct setting require;
	uint32_t caps;          /* what `require` says */
};

/* Find the URI: see setting.h.  A password in argv is wiped there.  0 or an
 * exit code, with a message; that no URI is set anywhere is a mistake. */
int store_choose(struct store *s, struct options *o);

/* Find what the store must be able to promise: --require, $DLOCK_REQUIRE or
 * dlock.conf.  0 or an exit code, with a message. */
int store_require(struct store *s, const struct options *o);

/* Say which store that would be and where it is named, without the command
 * line.  0 or an exit code, with a message. */
int store_explain(void);

/* A mem: store is refused by what runs or holds: 0 or an exit code. */
int store_refuse_private(const struct store *s);

/* Overwrite the password of a URI in argv, once that has been copied, and say
 * that it did not belong there. */
void store_wipe_password(char *uri);

/* Open it; it must have what store_require() found.  `on_event` may be NULL:
 * the command takes no lock, and prints warnings only with -v.
 * 0 or an exit code, with a message. */
int store_open(struct store *s, const struct options *o,
	       dlock_event_fn on_event, void *arg);

/* The lock of the kind that the options name.  0 or an exit code. */
int store_lock(dlock_lock **out, const struct store *s,
	       const struct options *o, const char *name);

/* Close and forget; a zeroed store is fine. */
void store_close(struct store *s);

#endif
