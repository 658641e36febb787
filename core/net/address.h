/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses from text: TCP and unix sockets.  Pure: no name is looked up.
 */
#ifndef DLOCK_CORE_NET_ADDRESS_H
#define DLOCK_CORE_NET_ADDRESS_H

#include "core/world/world.h"

/* Take the path of a unix socket.  0, or EINVAL: the path is empty or does not
 * fit. */
int dlki_address_unix(struct dlki_address *out, const char *path,
		      struct dlk_error *err);

int dlki_address_is_same(const struct dlki_address *a,
			 const struct dlki_address *b);

/* For messages: "127.0.0.1:6379", "[::1]:6379" or the path. */
enum { DLKI_ADDRESS_TEXT = 120 }; /* bytes */
void dlki_address_text(const struct dlki_address *a,
		       char out[DLKI_ADDRESS_TEXT]);

/* For messages, of a host that may be a name: "redis.example:6379". */
void dlki_address_text_of(const char *host, uint16_t port,
			  char out[DLKI_ADDRESS_TEXT]);

#endif
