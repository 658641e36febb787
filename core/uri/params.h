/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter tables and the values parsed from a URI's query.
 *
 * A duration is a number with a unit, ms, s, m or h; without a unit, of
 * seconds: "250ms", "1.5s", "2m", "30".  A duration is a whole number of
 * milliseconds.  "none" is the default of a duration without a default, and
 * stands for 0.
 */
#ifndef DLOCK_CORE_URI_PARAMS_H
#define DLOCK_CORE_URI_PARAMS_H

#include <dlock/backend.h>

/* The parameters of every scheme: ttl, connect, ask, close, prefix, max_hold,
 * label, retry_min, retry_max and others.  Ends in {0}. */
extern const struct dlk_param dlki_common_params[];

/* ---- The values of one URI: params.c ------------------------------------- */

/* The values of the common parameters, then of the scheme's own. */
struct dlk_values;

int dlki_values_new(struct dlk_values **out, const struct dlk_param *own,
		    struct dlk_error *err);
void dlki_values_free(struct dlk_values *values); /* wipes texts */

/* Set a parameter from the decoded text.  EINVAL: unknown (names the nearest
 * known), repeated, or not of the type or range (says the range). */
int dlki_values_set(struct dlk_values *values, const char *name,
		    const char *text, struct dlk_error *err);

/* Do the values fit together?  Call this after the last dlki_values_set(). */
int dlki_values_check(const struct dlk_uri *uri, struct dlk_error *err);

/* Does a table list a parameter of this name?  dlk_param_int() and the like
 * ask for listed parameters, of their type: an assertion. */
int dlki_values_know(const struct dlk_values *values, const char *name);

/* ---- One parameter: param.c ---------------------------------------------- */

/* Can the parser serve this table?  Names [a-z_] of at most 31 bytes, no clash
 * with common names, defaults that parse, no empty range.  For the registry. */
int dlki_params_check(const struct dlk_param *own, struct dlk_error *err);

/* Set the value of `text`; 0 for a DLK_TEXT, after a check of the length.
 * EINVAL never quotes a DLK_TEXT, which may be a secret. */
int dlki_param_parse(const struct dlk_param *p, const char *text, int64_t *out,
		     struct dlk_error *err);

/* Print the range: "10ms to 24h", "1 to 100", "on|off", the choices, or "". */
void dlki_param_range(const struct dlk_param *p, char *out, size_t size);
const char *dlki_param_type(const struct dlk_param *p);

/* ---- Durations: duration.c ----------------------------------------------- */

/* Set milliseconds; INT64_MAX stands for too large a number.  EINVAL says how
 * to write a duration. */
int dlki_duration_parse(const char *text, int64_t *ms, struct dlk_error *err);

/* Print milliseconds as "250ms", "30s", "24h": the largest unit that
 * divides. */
void dlki_duration_text(int64_t ms, char *out, size_t size);

#endif
