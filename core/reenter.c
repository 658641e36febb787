/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reenter.h"

#include "core/base/process.h"
#include "core/lifecycle.h"

static int count_again(dlock_hold *hold, dlock_hold **out,
		       struct dlk_error *err)
{
	if (hold->count == UINT32_MAX)
		return dlk_fail(err, DLOCK_EEXHAUSTED,
				"'%s' was acquired 2^32 - 1 times",
				dlki_hold_claim(hold)->record->name);
	hold->count++;
	*out = hold;
	return 0;
}

static int fail_terms(const struct dlki_record *r, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EINVAL,
			"%s '%s': this thread holds it already, with other "
			"options; dlock_extend() moves the end of a hold",
			dlki_kind_name(r->kind), r->name);
}

/* The list has an upgrade before the claim of the read side. */
struct dlki_claim *dlki_claim_of_thread(const struct dlki_record *r,
					enum dlk_mode side)
{
	uint64_t me = dlki_thread_serial();
	struct dlki_claim *claim = LIST_FIRST(&r->held);

	while (claim &&
	       (claim->thread != me || (claim->beside && side == DLK_SHARED)))
		claim = LIST_NEXT(claim, in_list);
	return claim;
}

int dlki_reenter(struct dlki_record *r, enum dlk_mode mode,
		 const struct dlki_wait *w, dlock_hold **out,
		 struct dlk_error *err)
{
	struct dlki_claim *claim;

	if (r->kind == DLK_SEMAPHORE)
		return DLKI_NOT_HELD;
	claim = dlki_claim_of_thread(r, mode);
	if (!claim)
		return DLKI_NOT_HELD;
	dlki_claim_expire(claim);
	if (claim->state == DLKI_LOST)
		return dlk_fail(err, DLOCK_ELOST,
				"%s '%s': this thread's "
				"earlier hold was lost (%s); release it first",
				dlki_kind_name(r->kind), r->name,
				dlki_claim_why(claim));
	if (claim == w->beside)
		return DLKI_NOT_HELD;
	if (!dlki_terms_agree(w->terms, claim->terms))
		return fail_terms(r, err);
	if (claim->own.side == mode && claim->own.count > 0)
		return count_again(&claim->own, out, err);
	if (mode == DLK_SHARED)
		return count_again(&claim->read, out, err);
	return dlk_fail(err, DLOCK_EDEADLK,
			"lock '%s': this thread holds "
			"the read side; release it before the write side",
			r->name);
}
