/* SPDX-License-Identifier: Apache-2.0 */
#include "core/terms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define LEASE_MIN_MS 10 /* as of ttl= */
#define LEAST_SIZE offsetof(dlock_acquire_options, max_hold_ms)

int dlki_acquire_options(dlock_acquire_options *own,
			 const dlock_acquire_options *given,
			 struct dlk_error *err)
{
	*own = (dlock_acquire_options)DLOCK_ACQUIRE_OPTIONS_INIT;
	if (!given)
		return 0;
	if (given->size < LEAST_SIZE || given->size > 4096)
		return dlk_fail(err, DLOCK_EINVAL,
				"dlock_acquire_options.size is %zu: start from "
				"DLOCK_ACQUIRE_OPTIONS_INIT",
				given->size);
	memcpy(own, given,
	       given->size < sizeof(*own) ? given->size : sizeof(*own));
	return 0;
}

static int check_options(const dlock_acquire_options *o, struct dlk_error *err)
{
	if (o->lease_ms != 0 && o->lease_ms < LEASE_MIN_MS)
		return dlk_fail(err, DLOCK_EINVAL,
				"lease_ms is %" PRId64 ": %d is the least, and "
				"0 the client's lease",
				o->lease_ms, LEASE_MIN_MS);
	if (o->max_hold_ms < 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"max_hold_ms is %" PRId64 ": use 0 for a hold "
				"that lasts until its release",
				o->max_hold_ms);
	return o->label ? dlki_text_check(o->label, strlen(o->label), "label",
					  err) :
			  0;
}

int dlki_terms_new(struct dlki_terms **out, const dlock_acquire_options *o,
		   struct dlk_error *err)
{
	size_t len = o->label ? strlen(o->label) : 0;
	struct dlki_terms *terms;
	int rc = check_options(o, err);

	*out = NULL;
	if (rc != 0)
		return rc;
	if (o->lease_ms == 0 && o->max_hold_ms == 0 && !o->no_renew &&
	    !o->label)
		return 0;
	terms = calloc(1, sizeof(*terms) + len + 1);
	if (!terms)
		return dlki_nomem(err);
	terms->lease_ms = o->lease_ms;
	terms->max_hold_ms = o->max_hold_ms;
	terms->no_renew = o->no_renew != 0;
	terms->has_label = o->label != NULL;
	if (o->label)
		memcpy(terms->label, o->label, len);
	*out = terms;
	return 0;
}

struct dlki_terms *dlki_terms_copy(const struct dlki_terms *terms)
{
	size_t size = sizeof(*terms) + strlen(terms->label) + 1;
	struct dlki_terms *twin = malloc(size);

	if (twin)
		memcpy(twin, terms, size);
	return twin;
}

int dlki_terms_check(const struct dlki_terms *terms, int64_t ttl_ms,
		     struct dlk_error *err)
{
	if (!terms)
		return 0;
	if (terms->no_renew && terms->lease_ms == 0 && ttl_ms == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"no_renew without lease_ms: holds of this "
				"store do not end by themselves");
	if (!terms->no_renew && ttl_ms > 0 && terms->lease_ms > ttl_ms)
		return dlk_fail(err, DLOCK_EINVAL,
				"lease_ms is %" PRId64 ", and the store's "
				"lease %" PRId64 ": ttl= in the URI makes that "
				"longer",
				terms->lease_ms, ttl_ms);
	return 0;
}

bool dlki_terms_agree(const struct dlki_terms *wanted,
		      const struct dlki_terms *held)
{
	static const struct dlki_terms none;

	if (!wanted)
		return true;
	if (!held)
		held = &none;
	return (wanted->lease_ms == 0 || wanted->lease_ms == held->lease_ms) &&
	       (wanted->max_hold_ms == 0 ||
		wanted->max_hold_ms == held->max_hold_ms) &&
	       (!wanted->no_renew || held->no_renew) &&
	       (!wanted->has_label ||
		(held->has_label && strcmp(wanted->label, held->label) == 0));
}
