/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads pages as strictly as XML is read, but for the style, which is skipped:
 * tags are closed in order, attributes quoted, characters escaped.
 */
#ifndef DLOCK_TESTS_MARKUP_H
#define DLOCK_TESTS_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lab_findings;

/* What is wrong with it, NULL: nothing.  Valid until the next call. */
const char *markup_fault(const char *page);

/* The first link within the page that leads nowhere or to two places, or an id
 * given twice; NULL: there is none.  Valid until the next call. */
const char *markup_stray(const char *page);

/* The first drawn position outside of what drawings show; NULL: none. */
const char *markup_outside(const char *page, double wide);

size_t markup_count(const char *text, const char *part);

/* What `write` leaves, to be freed; fails the test if it fails. */
char *markup_of(int (*write)(FILE *out, const struct lab_findings *f),
		const struct lab_findings *findings);

#endif
