/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parts of reports.  Internal.
 *
 * Strings of findings come from strangers, so text is escaped unless it says
 * otherwise: %s of lab_put() is, the format is not.  Numbers look the same in
 * every locale.
 */
#ifndef DLOCK_LAB_REPORT_IMPL_H
#define DLOCK_LAB_REPORT_IMPL_H

#include "lab/report/findings.h"

#include <stdio.h>

#define LAB_SHORT 64   /* size of texts for the functions below */
#define LAB_WIDE 460.0 /* units across a drawing: about pixels on a phone */
#define LAB_TICKS 6    /* on an axis, beside the first */

/* The text for a character. */
struct lab_escape {
	char c;
	const char *text; /* NULL: here the table ends */
};

struct lab_sheet {
	FILE *out;
	/* Other characters stand for themselves; characters that are no text
	 * become a blank or �.  NULL: all stand for themselves. */
	const struct lab_escape *escapes;
	bool codes; /* control characters have \u and a code instead */
	int error; /* errno of the first failed write, or 0 */
};

/* Print as printf(), but: knows %d, %zu, %jd, %ju, %f (one decimal at most), %g
 * (all digits) and %s (escaped). */
__attribute__((format(printf, 2, 3))) void
lab_put(struct lab_sheet *s, const char *format, ...);

/* Print unescaped. */
void lab_put_raw(struct lab_sheet *s, const char *text);

/* Flush; 0, or -1 and lab_errmsg(). */
int lab_sheet_end(struct lab_sheet *s);

/* ---- Words: each fills `text` and returns it ----------------------------- */

/* Three significant digits: "0.613", "21.4", "2400"; "–" for no number. */
const char *lab_say_number(char text[LAB_SHORT], double value);

/* With a unit: "41 ms", "2.4 s", "3 min 20 s". */
const char *lab_say_ms(char text[LAB_SHORT], double ms);

/* With the best unit for a time: "1.2 ms", "31 1/s". */
const char *lab_say_value(char text[LAB_SHORT], double value, const char *unit);

/* The missing end of the sentence: "." or "". */
const char *lab_say_stop(const char *sentence);

/* "2026-02-03 04:05:06 UTC" */
const char *lab_say_date(char text[LAB_SHORT], int64_t seconds);

/* How busy the machine was: "12 % of the time". */
const char *lab_say_busy(char text[LAB_SHORT], const struct lab_run *run);

const char *lab_say_seed(char text[LAB_SHORT], uint64_t seed);

/* The first characters, "…" for the rest. */
const char *lab_say_short(char text[LAB_SHORT], const char *whole, size_t most);

/* The names of DLOCK_CAP_ bits, a blank between. */
const char *lab_say_caps(char text[256], uint32_t caps);

/* "us" is written "µs"; "" stays. */
const char *lab_say_unit(const char *unit);

/* "kept" has a symbol that needs no colour, too: "✓". */
const char *lab_say_symbol(enum lab_outcome outcome);

/* ---- Rows for Markdown and HTML alike ------------------------------------ */

void lab_each_fact(struct lab_sheet *s, const struct lab_run *r,
		   void (*put)(struct lab_sheet *s, const char *term,
			       const char *text));

/* `to` is NAN of an event without an end. */
void lab_each_event(struct lab_sheet *s, const struct lab_timeline *t,
		    void (*put)(struct lab_sheet *s, const char *who,
				const char *what, double from, double to));

const char *lab_store_declares(char text[256], const struct lab_store *it);
const char *lab_store_lease(char text[LAB_SHORT], const struct lab_store *it);

/* ---- Questions ----------------------------------------------------------- */

size_t lab_count_outcome(const struct lab_findings *f, enum lab_outcome o);

/* Whether figure `i` is the first with the id: the figure then begins a
 * group. */
bool lab_figure_leads(const struct lab_findings *f, size_t i);
bool lab_figure_same(const struct lab_findings *f, size_t i, size_t j);

/* ---- Drawing ------------------------------------------------------------- */

/* About how wide a text is drawn. */
double lab_text_wide(const char *text);

/* The distance of ticks, 1, 2 or 5 times a power of ten, if `span` is to have
 * at most LAB_TICKS. */
double lab_tick_step(double span);

/* ---- Parts of the page --------------------------------------------------- */

void lab_html_style(struct lab_sheet *s);
void lab_html_verdict(struct lab_sheet *s, enum lab_outcome outcome);
void lab_html_matrix(struct lab_sheet *s, const struct lab_findings *f);
void lab_html_details(struct lab_sheet *s, const struct lab_findings *f);
void lab_html_figures(struct lab_sheet *s, const struct lab_findings *f);
void lab_html_curves(struct lab_sheet *s, const struct lab_findings *f,
		     size_t lead);
void lab_html_timelines(struct lab_sheet *s, const struct lab_findings *f);
void lab_html_bars(struct lab_sheet *s, const struct lab_findings *f);

#endif
