/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a URI, to see whether and how the store answers. */
#ifndef DLOCK_TESTS_OPENING_H
#define DLOCK_TESTS_OPENING_H

#include <dlock/dlock.h>

/* Opening must succeed, and the end of the case closes the client. */
dlock_client *client_of_case(const char *uri, const dlock_options *options);

/* Open, take and release a lock, and close. */
void opening_works(const char *uri, const dlock_options *options);

/* Opening must fail with `code` and mention `part`. */
void opening_fails(const char *uri, int code, const char *part);

#endif
