/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TESTS_SUPPORT_ADDRESS_H
#define DLOCK_TESTS_SUPPORT_ADDRESS_H

#include "core/net/address.h"

/* Parse "127.0.0.1" or "::1", without brackets.  0, or EINVAL if `host` is no
 * address. */
int address_tcp(struct dlki_address *out, const char *host, uint16_t port);

/* Bind a socket to a free port of 127.0.0.1.  Returns the descriptor, which
 * works: the test ends otherwise. */
int address_bound(struct dlki_address *out);

/* Has this machine a ::1? */
int address_six_is_there(void);

#endif
