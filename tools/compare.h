/* SPDX-License-Identifier: Apache-2.0 */
/* How `dlock compare` shows what it found. */
#ifndef DLOCK_TOOLS_COMPARE_H
#define DLOCK_TOOLS_COMPARE_H

#include "lab/findings.h"

#include <jansson.h>
#include <stdio.h>

/* Tables in at most 100 columns. */
void compare_print(FILE *out, const struct lab_findings *f);

/* The document that docs/compare.md describes; NULL: out of memory. */
json_t *compare_json(const struct lab_findings *f);

#endif
