/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/params.h"
#include "core/base/error.h"
#include "core/base/nearest.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)

/* A prefix becomes part of a file name, a znode and a server's key. */
#define PREFIX_BYTES                                                           \
	"abcdefghijklmnopqrstuvwxyz"                                           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

const struct dlk_param dlki_common_params[] = {
	{ "ttl", DLK_DURATION, "30s", 10, 24 * HOUR, NULL,
	  "The lease: how long a claim outlives a holder that went silent." },
	{ "connect", DLK_DURATION, "5s", 1, 10 * MINUTE, NULL,
	  "How long opening may take, a wait for a server that refuses "
	  "connections included." },
	{ "ask", DLK_DURATION, "40ms", 1, MINUTE, NULL,
	  "How long a request may still take after the caller's timeout; if "
	  "not given, it follows the store's round trips, up to 1s." },
	{ "close", DLK_DURATION, "2s", 0, 10 * MINUTE, NULL,
	  "How long closing, and each release, may take." },
	{ "prefix", DLK_TEXT, "dlock", 1, 64, NULL,
	  "The beginning of all keys in the store: A-Z a-z 0-9 . _ - and no "
	  "'.' in front." },
	{ "max_hold", DLK_DURATION, NULL, 0, 8760 * HOUR, NULL,
	  "How long a hold is renewed before it is given up; 0 or none: no "
	  "limit." },
	{ "keep", DLK_DURATION, "0", 0, 24 * HOUR, NULL,
	  "How long a released mutex or write side stays this client's, "
	  "unless another client wants it; at most half of the lease." },
	{ "passes", DLK_NUMBER, "0", 0, 1000000, NULL,
	  "How many holds the threads of this client may pass among them "
	  "while another client waits; with more than 0, grants are not "
	  "FAIR." },
	{ "release", DLK_CHOICE, "sync", 0, 0, "sync|async",
	  "Whether a release waits for the store's answer; with async, a "
	  "failure is an event." },
	{ "label", DLK_TEXT, NULL, 1, 128, NULL,
	  "What others see of this holder or waiter." },
	{ "retry_min", DLK_DURATION, "10ms", 1, HOUR, NULL,
	  "The least pause between two polls, if the store cannot wake." },
	{ "retry_max", DLK_DURATION, "500ms", 1, HOUR, NULL,
	  "The greatest such pause; not below retry_min." },
	{ 0 }
};

struct value {
	const struct dlk_param *param;
	int64_t number;
	char *text; /* of a DLK_TEXT, if given */
	int given;
};

struct dlk_values {
	size_t n;
	struct value v[];
};

static size_t count(const struct dlk_param *table)
{
	size_t n = 0;

	while (table && table[n].name)
		n++;
	return n;
}

static int fill_defaults(struct dlk_values *values,
			 const struct dlk_param *table, struct dlk_error *err)
{
	for (const struct dlk_param *p = table; p && p->name; p++) {
		struct value *v = &values->v[values->n++];

		v->param = p;
		if (p->def && dlki_param_parse(p, p->def, &v->number, err) < 0)
			return DLOCK_EINVAL;
	}
	return DLOCK_OK;
}

int dlki_values_new(struct dlk_values **out, const struct dlk_param *own,
		    struct dlk_error *err)
{
	size_t n = count(dlki_common_params) + count(own);
	struct dlk_values *values;
	int rc;

	values = calloc(1, sizeof(*values) + n * sizeof(values->v[0]));
	if (!values)
		return dlki_nomem(err);
	rc = fill_defaults(values, dlki_common_params, err);
	if (rc == DLOCK_OK)
		rc = fill_defaults(values, own, err);
	if (rc < 0) {
		free(values);
		return rc;
	}
	*out = values;
	return DLOCK_OK;
}

void dlki_values_free(struct dlk_values *values)
{
	if (!values)
		return;
	for (size_t i = 0; i < values->n; i++) {
		char *text = values->v[i].text;

		if (text)
			explicit_bzero(text, strlen(text));
		free(text);
	}
	free(values);
}

/* Return the place of a name, or the number of values. */
static size_t find(const struct dlk_values *values, const char *name)
{
	size_t i = 0;

	while (i < values->n && strcmp(values->v[i].param->name, name) != 0)
		i++;
	return i;
}

int dlki_values_know(const struct dlk_values *values, const char *name)
{
	return find(values, name) < values->n;
}

static int reject_foreign(const struct dlk_values *values, const char *name,
			  struct dlk_error *err)
{
	char known[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < values->n; i++) {
		const char *next = values->v[i].param->name;

		if (used + strlen(next) + 3 <= sizeof(known))
			used += (size_t)snprintf(known + used,
						 sizeof(known) - used, "%s%s",
						 used ? ", " : "", next);
	}
	return dlk_fail(err, DLOCK_EINVAL,
			"unknown parameter '%.40s'; there are %s", name, known);
}

static int reject_unknown(const struct dlk_values *values, const char *name,
			  struct dlk_error *err)
{
	const char *nearest = "";
	unsigned int best = DLKI_FAR;

	for (size_t i = 0; i < values->n; i++) {
		const char *candidate = values->v[i].param->name;
		unsigned int distance = dlki_distance(name, candidate);

		if (distance < best) {
			best = distance;
			nearest = candidate;
		}
	}
	if (best == DLKI_FAR)
		return reject_foreign(values, name, err);
	return dlk_fail(err, DLOCK_EINVAL,
			"unknown parameter '%s'; did you mean '%s'?", name,
			nearest);
}

static int store(struct value *v, const char *text, struct dlk_error *err)
{
	int rc = dlki_param_parse(v->param, text, &v->number, err);

	if (rc == DLOCK_OK && v->param->type == DLK_TEXT) {
		v->text = strdup(text);
		if (!v->text)
			return dlki_nomem(err);
	}
	return rc;
}

int dlki_values_set(struct dlk_values *values, const char *name,
		    const char *text, struct dlk_error *err)
{
	size_t i = find(values, name);
	struct dlk_error why;
	struct value *v;
	int rc;

	if (i == values->n)
		return reject_unknown(values, name, err);
	v = &values->v[i];
	if (v->given)
		return dlk_fail(err, DLOCK_EINVAL,
				"parameter '%s' is given twice", name);
	rc = store(v, text, &why);
	if (rc < 0)
		return dlk_fail(err, rc, "parameter '%s': %s", name, why.text);
	v->given = 1;
	return DLOCK_OK;
}

static const struct value *value_of(const struct dlk_uri *uri, const char *name)
{
	size_t i = find(uri->values, name);

	assert(i < uri->values->n);
	return &uri->values->v[i];
}

int64_t dlk_param_int(const struct dlk_uri *uri, const char *name)
{
	const struct value *v = value_of(uri, name);

	assert(v->param->type != DLK_TEXT);
	return v->number;
}

const char *dlk_param_text(const struct dlk_uri *uri, const char *name)
{
	const struct value *v = value_of(uri, name);

	assert(v->param->type == DLK_TEXT);
	return v->given ? v->text : v->param->def;
}

int dlk_param_given(const struct dlk_uri *uri, const char *name)
{
	return value_of(uri, name)->given;
}

int dlki_values_check(const struct dlk_uri *uri, struct dlk_error *err)
{
	const char *prefix = dlk_param_text(uri, "prefix");
	int64_t min_ms = dlk_param_int(uri, "retry_min");
	int64_t max_ms = dlk_param_int(uri, "retry_max");
	char min[32], max[32];

	if (prefix[0] == '.' || prefix[strspn(prefix, PREFIX_BYTES)])
		return dlk_fail(err, DLOCK_EINVAL,
				"parameter 'prefix': only A-Z a-z 0-9 . _ - "
				"and no '.' in front");
	if (min_ms <= max_ms)
		return DLOCK_OK;
	dlki_duration_text(min_ms, min, sizeof(min));
	dlki_duration_text(max_ms, max, sizeof(max));
	return dlk_fail(err, DLOCK_EINVAL,
			"parameter 'retry_min' is %s, above retry_max, which "
			"is %s",
			min, max);
}
