/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on holds wanted by others. */
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/process.h"
#include "core/guard.h"
#include "core/multi_hold.h"
#include "core/watch.h"

static int one_revocable(struct dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_claim *claim = dlki_hold_claim(hold);
	struct dlock_client *c = claim->client;
	int rc = dlki_client_begin(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	if (hold != &claim->own)
		rc = dlk_fail(err, DLOCK_ENOTSUP,
			      "only a mutex or a write side can be revocable");
	else
		rc = dlki_watch_revocable(
			claim, dlki_after_ms(dlk_now(), c->request_ms), err);
	pthread_mutex_unlock(&c->mu);
	dlki_client_end(c);
	return rc;
}

/* Members in stores that cannot tell count only if all are. */
static int members_revocable(struct dlki_multi_hold *m, struct dlk_error *err)
{
	int told = 0;

	for (size_t i = 0; i < m->n; i++) {
		int rc = one_revocable(m->member[i].hold, err);

		if (rc < 0 && rc != DLOCK_ENOTSUP)
			return rc;
		told |= rc == 0;
	}
	return told ? 0 : DLOCK_ENOTSUP;
}

int dlock_revocable(dlock_hold *hold)
{
	struct dlki_scope s = dlki_enter();
	int rc;

	if (!hold)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "hold is NULL");
	else if (dlki_hold_multi(hold))
		rc = members_revocable(dlki_hold_multi(hold), &s.err);
	else
		rc = one_revocable(hold, &s.err);
	return dlki_leave_with(&s, rc);
}

/* The descriptor is there first, so that no notice comes without it. */
static int wanted_fd(struct dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_claim *claim = dlki_hold_claim(hold);
	struct dlock_client *c = claim->client;
	int fd = dlki_client_ours(c, err), ask, rc = 0;

	if (fd != 0)
		return fd;
	pthread_mutex_lock(&c->mu);
	fd = dlki_claim_eventfd(&claim->wanted_fd, claim->told_wanted, err);
	ask = hold != &claim->own || (!claim->revocable && !claim->told_wanted);
	pthread_mutex_unlock(&c->mu);
	if (fd >= 0 && ask)
		rc = one_revocable(hold, err);
	return rc < 0 ? rc : fd;
}

int dlock_wanted_fd(dlock_hold *hold)
{
	struct dlki_scope s = dlki_enter();
	int fd;

	if (!hold)
		fd = dlk_fail(&s.err, DLOCK_EINVAL, "hold is NULL");
	else if (dlki_hold_multi(hold))
		fd = dlk_fail(&s.err, DLOCK_EINVAL,
			      "a multi-lock's hold: ask for its members' "
			      "descriptors (dlock_member)");
	else
		fd = wanted_fd(hold, &s.err);
	return dlki_leave_with(&s, fd);
}
