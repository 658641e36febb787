/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read pages as strictly as XML, except for the style: tags are closed in
 * order, attributes quoted, characters escaped.
 */
#ifndef DLOCK_TESTS_MARKUP_H
#define DLOCK_TESTS_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lab_findings;

/* Return the first fault of the page, or NULL. Valid until the next call. */
const char *markup_fault(const char *page);

/* Return the first link without a single target in the page, or the first id
 * given twice, or NULL. Valid until the next call. */
const char *markup_stray(const char *page);

/* Return the first drawn position outside of the drawing, or NULL. */
const char *markup_outside(const char *page, double wide);

size_t markup_count(const char *text, const char *part);

/* Return the text that `write` writes, allocated; or fail. */
char *markup_of(int (*write)(FILE *out, const struct lab_findings *f),
		const struct lab_findings *findings);

#endif
