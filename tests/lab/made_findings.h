/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for tests of reports. */
#ifndef DLOCK_TESTS_MADE_FINDINGS_H
#define DLOCK_TESTS_MADE_FINDINGS_H

#include "lab/report/findings.h"

/* Make findings of many stores, with all outcomes, figures with curves, and
 * timelines. Every string is `text`; if NULL, all strings are plain and
 * different. */
struct lab_findings *made_findings(size_t stores, const char *text);

/* Make findings of a store with senseless measurements. */
struct lab_findings *made_nonsense(void);

/* Make a realistic set, always the same: every outcome, strings to escape,
 * figures with and without floor and curve, timelines with and without
 * overlaps. NULL: out of memory. */
struct lab_findings *sample_findings(void);

#endif
