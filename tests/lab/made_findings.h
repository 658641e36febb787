/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for tests of reports, apart from sample_findings(). */
#ifndef DLOCK_TESTS_MADE_FINDINGS_H
#define DLOCK_TESTS_MADE_FINDINGS_H

#include "lab/report/findings.h"

/* So many stores; every string is `text`, or plain and unlike the others if
 * that is NULL.  There are all outcomes, figures with curves, and timelines. */
struct lab_findings *made_findings(size_t stores, const char *text);

/* One store, of which nothing that can be measured makes sense. */
struct lab_findings *made_nonsense(void);

/* A realistic set, the same each time: every outcome, strings that need
 * escaping, figures with and without floor and curve, timelines with and
 * without overlaps.  NULL: out of memory. */
struct lab_findings *sample_findings(void);

#endif
