/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms: the options of an acquire that differ from the client's.  Most holds
 * have no terms.  A claim with terms is neither passed nor kept, nor is another
 * claim passed to the asker: the store must know the label, and the lease must
 * be fresh.
 */
#ifndef DLOCK_CORE_TERMS_H
#define DLOCK_CORE_TERMS_H

#include <dlock/backend.h>
#include <stdbool.h>

struct dlki_terms {
	int64_t lease_ms;    /* 0: the store's */
	int64_t max_hold_ms; /* 0: the client's */
	bool no_renew;       /* the lease is the hold's only one */
	bool has_label;
	char label[];
};

/* Fill in the options, with the members known to the caller; NULL: no
 * options. */
int dlki_acquire_options(dlock_acquire_options *own,
			 const dlock_acquire_options *given,
			 struct dlk_error *err);

/* Make the terms of the options, or NULL for no terms: free() them. */
int dlki_terms_new(struct dlki_terms **out, const dlock_acquire_options *o,
		   struct dlk_error *err);

/* NULL: no memory. */
struct dlki_terms *dlki_terms_copy(const struct dlki_terms *terms);

/* Can a hold have these, or NULL, where the lease is `ttl_ms`? */
int dlki_terms_check(const struct dlki_terms *terms, int64_t ttl_ms,
		     struct dlk_error *err);

/* Does a hold with the terms `held` satisfy `wanted`?  Either may be NULL. */
bool dlki_terms_agree(const struct dlki_terms *wanted,
		      const struct dlki_terms *held);

#endif
