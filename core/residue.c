/* SPDX-License-Identifier: Apache-2.0 */
#include "core/residue.h"

/* After these codes the store has answered: it refused. */
static int is_refusal(int code)
{
	return code == DLOCK_EINVAL || code == DLOCK_EDENIED ||
	       code == DLOCK_ENOTSUP || code == DLOCK_EEXHAUSTED;
}

enum dlki_sending dlki_sending_of(const struct dlk_ticket *t, int failed)
{
	if (t->resent)
		return DLKI_SENDING_UNANSWERED;
	if (failed == 0)
		return DLKI_SENDING_ANSWERED;
	if (t->settled)
		return DLKI_SENDING_NONE;
	return is_refusal(failed) ? DLKI_SENDING_ANSWERED :
				    DLKI_SENDING_UNANSWERED;
}

/* A later answer does not stop a request on the way. */
void dlki_residue_asked(struct dlki_claim_residue *r, enum dlki_sending sending,
			dlk_time until)
{
	r->until = until;
	if (sending == DLKI_SENDING_UNANSWERED)
		r->is = DLKI_MAYBE;
	else if (sending == DLKI_SENDING_ANSWERED && r->is == DLKI_NONE)
		r->is = DLKI_STANDS;
}

bool dlki_residue_abandoned(struct dlki_claim_residue *r)
{
	if (r->is == DLKI_NONE && r->until != 0)
		r->is = DLKI_STANDS;
	return r->is != DLKI_NONE;
}

enum dlki_claim_state dlki_residue_released(struct dlki_claim_residue *r,
					    bool confirmed)
{
	bool may_arrive = r->is == DLKI_MAYBE;

	if (!confirmed)
		return DLKI_CLEANING;
	r->is = DLKI_NONE;
	return may_arrive ? DLKI_CLEANING : DLKI_GONE;
}

enum dlki_claim_state dlki_residue_cleaned(struct dlki_claim_residue *r,
					   enum dlki_claim_state state,
					   bool confirmed, dlk_time sent,
					   dlk_time now)
{
	/* The answer to the first release came meanwhile. */
	bool answered = state == DLKI_RELEASING && r->is == DLKI_NONE;
	bool over = (confirmed ? sent : now) >= r->until;

	if (confirmed && (r->is == DLKI_STANDS || r->until == DLK_FOREVER))
		over = true;
	if (confirmed || over)
		r->is = DLKI_NONE;
	return answered || over ? DLKI_GONE : DLKI_CLEANING;
}
