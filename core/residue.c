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
		return DLKI_UNANSWERED;
	if (failed == 0)
		return DLKI_ANSWERED;
	if (t->settled)
		return DLKI_UNSENT;
	return t->crowded || !is_refusal(failed) ? DLKI_UNANSWERED :
						   DLKI_ANSWERED;
}

/* A later answer does not stop what is on its way. */
enum dlki_residue dlki_residue_asked(enum dlki_residue residue,
				     enum dlki_sending sending)
{
	if (sending == DLKI_UNANSWERED)
		return DLKI_RESIDUE_MAYBE;
	if (sending == DLKI_ANSWERED && residue == DLKI_RESIDUE_NONE)
		return DLKI_RESIDUE_STANDS;
	return residue;
}
