/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter tables and the values parsed from a URI's query.
 *
 * A duration is a number with a unit, ms, s, m or h, or of seconds without one:
 * "250ms", "1.5s", "2m", "30".  It is a whole number of milliseconds.  "none"
 * is the default of a duration that has none, and stands for 0.
 */
#ifndef DLOCK_CORE_URI_PARAMS_H
#define DLOCK_CORE_URI_PARAMS_H

#include <dlock/backend.h>

/* What every scheme has: ttl, connect, ask, close, prefix, max_hold, label,
 * retry_min, retry_max.  Ends in {0}. */
extern const struct dlk_param dlki_common_params[];

/* ---- The values of one URI: params.c ------------------------------------- */

/* One value per parameter of the common table and then of the own one. */
struct dlk_values;

int dlki_values_new(struct dlk_values **out, const struct dlk_param *own,
		    struct dlk_error *err);
void dlki_values_free(struct dlk_values *values); /* wipes texts */

/* Set one parameter from its decoded text.  EINVAL: unknown (names the nearest
 * known one), repeated, or not of its type or range (says the range). */
int dlki_values_set(struct dlk_values *values, const char *name,
		    const char *text, struct dlk_error *err);

/* When all are set: do they fit together? */
int dlki_values_check(const struct dlk_values *values, struct dlk_error *err);

/* Is there a parameter of this name? */
int dlki_values_know(const struct dlk_values *values, const char *name);

/* Was it set?  0, and an assertion, where no table lists it. */
int dlki_values_given(const struct dlk_values *values, const char *name);

/* 0 and NULL, and an assertion, where no table lists a parameter of this name
 * that has a number or a text. */
int64_t dlki_values_int(const struct dlk_values *values, const char *name);
const char *dlki_values_text(const struct dlk_values *values, const char *name);

/* ---- One parameter: param.c ---------------------------------------------- */

/* Is this table one that the parser can serve?  Names [a-z_] of at most 31
 * bytes, no clash with the common ones, defaults that parse, ranges that are
 * not empty.  For the registry. */
int dlki_params_check(const struct dlk_param *own, struct dlk_error *err);

/* What `text` is worth; 0 for a DLK_TEXT, whose length is checked.  EINVAL
 * never quotes a DLK_TEXT, which may be a secret. */
int dlki_param_parse(const struct dlk_param *p, const char *text, int64_t *out,
		     struct dlk_error *err);

/* "10ms to 24h", "1 to 100", "on|off", the choices, or "": into out. */
void dlki_param_range(const struct dlk_param *p, char *out, size_t size);
const char *dlki_param_type(const struct dlk_param *p);

/* ---- Durations: duration.c ----------------------------------------------- */

/* Milliseconds, INT64_MAX for what is too large.  EINVAL says what to write. */
int dlki_duration_parse(const char *text, int64_t *ms, struct dlk_error *err);

/* Milliseconds as "250ms", "30s", "24h": the largest unit that divides. */
void dlki_duration_text(int64_t ms, char *out, size_t size);

#endif
