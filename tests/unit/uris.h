/* SPDX-License-Identifier: Apache-2.0 */
/* Parses of URIs, and the messages of refusals. */
#ifndef DLOCK_TESTS_UNIT_URIS_H
#define DLOCK_TESTS_UNIT_URIS_H

#include "core/uri/uri.h"

/* A scheme with users. */
extern const struct dlk_param uri_table[];

/* The result of the last parse. */
extern struct dlk_uri *uri;
extern struct dlk_error err;

/* The .fini of the suite. */
void uri_end(void);

void parse(const char *text);
void expect_refused(const char *text, const char *why);
void expect_text(const char *got, const char *expected);

#endif
