/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as text, and pages read as strictly as XML: see markup.py. */
#ifndef DLOCK_TESTS_MARKUP_H
#define DLOCK_TESTS_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lab_findings;

/* Whether the markup and the links are right, and the drawings inside the
 * page. */
bool markup_is_good(const char *page);

void expect_part(const char *text, const char *part);
size_t markup_count(const char *text, const char *part);

/* Return the text that `write` writes, allocated; or fail. */
char *markup_of(int (*write)(FILE *out, const struct lab_findings *f),
		const struct lab_findings *findings);

#endif
