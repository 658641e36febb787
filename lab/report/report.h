/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports, made of findings (lab/report/findings.h).
 *
 * Each function writes a whole document and answers 0; -1 and lab_errmsg() if
 * `out` did not take all.  `out` is flushed, not closed.
 */
#ifndef DLOCK_LAB_REPORT_H
#define DLOCK_LAB_REPORT_H

#include "lab/report/findings.h"

#include <stdio.h>

/* Tables for a terminal, in at most 100 columns. */
int lab_write_table(FILE *out, const struct lab_findings *f);

/* Write the document described in docs/compare.md. */
int lab_write_json(FILE *out, const struct lab_findings *f);

/* Write a page for a repository: tables in GitHub's Markdown only. */
int lab_write_markdown(FILE *out, const struct lab_findings *f);

/* Write a page that needs no network and no other file: matrix, percentile
 * curves, timelines, recovery bars. */
int lab_write_html(FILE *out, const struct lab_findings *f);

#endif
