/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: each stands for a kind and name in use by a client.  All handles of
 * the name share the record, so threads exclude each other through separate
 * handles.
 */
#ifndef DLOCK_CORE_RECORD_H
#define DLOCK_CORE_RECORD_H

#include <sys/queue.h>

#include "core/client.h"
#include "core/name.h"

LIST_HEAD(dlki_claim_list, dlki_claim);
TAILQ_HEAD(dlki_parked, dlki_claim);

struct dlki_record {
	struct dlock_client *client;
	struct dlki_claim_list held;  /* under mu: HELD, or LOST and not
				       * released */
	struct dlki_claim_list cleanups; /* under mu: see cleanup.h */
	struct dlki_claim *kept;      /* under mu: the KEPT claim, also among
				       * the clean-ups */
	struct dlki_parked parked;    /* under mu: see parked.h */
	struct dlki_claim *parked_near; /* under mu: the claim ahead of the
					 * last removed, or NULL */
	dlk_time crowded_until;       /* under mu: see watch.h */
	uint32_t refs;                /* under mu: handles and claims */
	uint32_t limit;               /* of a semaphore, else 0 */
	enum dlk_kind kind : 8;
	uint16_t key_at;              /* in the text */
	char name[];                  /* and the key */
};

/* The key of kind and name: orders the tree. */
static inline const char *dlki_record_key(const struct dlki_record *record)
{
	return record->name + record->key_at;
}

/* The record's name in messages: "lock 'billing'". */
const char *dlki_kind_name(enum dlk_kind kind);

/* A record without references, or NULL. */
struct dlki_record *dlki_record_new(struct dlock_client *client,
				    enum dlk_kind kind, const char *name,
				    uint32_t limit);

/* A request to ask the store about the lock, without an owner. */
struct dlk_request dlki_record_request(const struct dlki_record *record);

/* The rest needs the client's mu. */

/* A reference to the client's record of the kind and name of `fresh`; without
 * such a record, `fresh` becomes it. */
int dlki_record_intern(struct dlki_record **out, struct dlki_record *fresh,
		       struct dlk_error *err);

/* Drop a reference. */
void dlki_record_unref(struct dlki_record *record);

#endif
