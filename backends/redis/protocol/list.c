/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listing: SCAN finds keys, step by step; then a script describes the locks,
 * batch by batch.
 *
 * Each LIST op with a request in flight has a listing, and the store has the
 * listings in the order of the requests.  The listing of an op that is over
 * stays until the answer comes.
 */
#include <stdlib.h>

#include "backends/redis/protocol/found.h"
#include "backends/redis/protocol/store.h"

struct redis_listing {
	STAILQ_ENTRY(redis_listing) in_listings;
	struct redis_found found;
	size_t awaited; /* descriptions on their way; 0: SCAN's answer is */
};

static struct redis_listing *pop_listing(struct redis_store *s)
{
	struct redis_listing *l = STAILQ_FIRST(&s->listings);

	STAILQ_REMOVE_HEAD(&s->listings, in_listings);
	return l;
}

static void free_listing(struct redis_listing *l)
{
	dlki_redis_found_free(&l->found);
	free(l);
}

void dlki_redis_store_unlist(struct redis_store *s)
{
	while (!STAILQ_EMPTY(&s->listings))
		free_listing(pop_listing(s));
}

/* Send the op's next request: a step of SCAN, or a batch of descriptions.  The
 * listing is not in the list. */
static void ask_more(struct redis_store *s, struct dlki_op *op,
		     struct redis_listing *l)
{
	struct redis_commands out;

	dlki_redis_commands_init(&out);
	if (l->found.whole)
		l->awaited = dlki_redis_found_describe(&l->found, &out);
	else
		dlki_redis_found_scan(&l->found, &out);
	if (out.failed) {
		dlki_redis_store_no_memory(op);
		free_listing(l);
	} else {
		STAILQ_INSERT_TAIL(&s->listings, l, in_listings);
		dlki_send(s->main.link, DLKI_LIST, op, out.bytes, out.len);
	}
	dlki_redis_commands_free(&out);
}

void dlki_redis_store_list(struct redis_store *s, struct dlki_op *op)
{
	struct redis_listing *l = calloc(1, sizeof(*l));

	if (!l) {
		dlki_redis_store_no_memory(op);
		return;
	}
	dlki_redis_found_init(&l->found, s->prefix);
	ask_more(s, op, l);
}

/* ---- The answers --------------------------------------------------------- */

/* Go on, as the request is answered; the listing is no longer in the list. */
static void go_on(struct redis_store *s, struct dlki_op *op,
		  struct redis_listing *l)
{
	if (op && (!l->found.whole || l->found.described < l->found.n)) {
		ask_more(s, op, l);
		return;
	}
	dlki_answered(op, 1);
	free_listing(l);
}

static enum redis_taken take_scan(struct redis_store *s,
				  const struct redis_answer *a)
{
	struct redis_listing *l = pop_listing(s);
	int rc;

	if (a->reply->type == RD_ERROR) {
		free_listing(l);
		return dlki_redis_store_fault(s, a);
	}
	rc = dlki_redis_found_add(&l->found, a->reply);
	if (rc == 0) {
		go_on(s, a->op, l);
		return RD_TAKEN;
	}
	free_listing(l);
	if (rc != DLOCK_ENOMEM)
		return RD_SENSELESS;
	dlki_redis_store_no_memory(a->op);
	return RD_TAKEN;
}

static enum redis_taken take_description(struct redis_store *s,
					 const struct redis_answer *a)
{
	struct redis_listing *l = STAILQ_FIRST(&s->listings);
	struct dlki_op *op = a->op;
	struct dlock_lock_info info;
	char name[256];

	switch (dlki_redis_found_described(&l->found, a->reply, &info, name)) {
	case RD_FOUND_LOCK:
		dlki_row_lock(op, &info);
		break;
	case RD_FOUND_FAULT:
		if (dlki_redis_store_fault(s, a) == RD_CUT)
			return RD_CUT;
		op = NULL;
		break;
	default:
		break;
	}
	if (--l->awaited > 0)
		return RD_TAKEN_IN_PART;
	go_on(s, op, pop_listing(s));
	return RD_TAKEN;
}

enum redis_taken dlki_redis_store_listed(struct redis_store *s,
					 const struct redis_answer *a)
{
	return STAILQ_FIRST(&s->listings)->awaited > 0 ?
		       take_description(s, a) :
		       take_scan(s, a);
}
