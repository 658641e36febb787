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

/* Make plain findings of two stores, of a quick run with private servers at a
 * date. The first store has a figure with a floor and a curve, figures without,
 * and a timeline with an overlap. The second is foreign, and has no figures,
 * and a timeline without an overlap. */
struct lab_findings *dated_findings(void);

#endif
