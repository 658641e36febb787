/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "core/registry.h"
#include "core/uri/params.h"

static int check_members(const struct dlock_backend *b, struct dlk_error *err)
{
	const char *missing = NULL;

	if (b->size <
	    offsetof(struct dlock_backend, break_) + sizeof(b->break_))
		return dlk_fail(err, DLOCK_EINVAL,
				"dlock_backend.size is %zu: "
				"set it to sizeof(struct dlock_backend)",
				b->size);
	if (!b->schemes || !b->schemes[0])
		missing = "schemes";
	else if (!b->summary)
		missing = "summary";
	else if (!b->open)
		missing = "open";
	else if (!b->close)
		missing = "close";
	else if (!b->attempt)
		missing = "attempt";
	else if (!b->release)
		missing = "release";
	if (missing)
		return dlk_fail(err, DLOCK_EINVAL, "the member '%s' is missing",
				missing);
	if (b->session_size < sizeof(struct dlk_session) ||
	    b->ticket_size < sizeof(struct dlk_ticket))
		return dlk_fail(err, DLOCK_EINVAL,
				"session_size and ticket_size must hold the "
				"core's structures");
	return 0;
}

/* Check that a member is provided if and only if the capability is set. */
static int check_pair(const char *member, int there, const char *cap,
		      int promised, struct dlk_error *err)
{
	if (there && !promised)
		return dlk_fail(err, DLOCK_EINVAL,
				"has '%s' but not DLOCK_CAP_%s: set the bit, "
				"or leave the member out",
				member, cap);
	if (!there && promised)
		return dlk_fail(err, DLOCK_EINVAL,
				"has DLOCK_CAP_%s but no '%s': provide it, or "
				"drop the bit",
				cap, member);
	return 0;
}

static int check_pairs(const struct dlock_backend *b, struct dlk_error *err)
{
	uint32_t caps = b->caps;
	int wanted = DLKI_HAS(b, watch_wanted);
	int rc;

	rc = check_pair("inspect", b->inspect != NULL, "INSPECT",
			(caps & DLOCK_CAP_INSPECT) != 0, err);
	if (rc == 0)
		rc = check_pair("list", b->list != NULL, "LIST",
				(caps & DLOCK_CAP_LIST) != 0, err);
	if (rc == 0 && caps & DLOCK_CAP_WANTED)
		rc = check_pair("watch_wanted", wanted, "WANTED", 1, err);
	if (rc == 0 && wanted && !DLKI_HAS(b, revoke))
		rc = dlk_fail(err, DLOCK_EINVAL,
			      "has 'watch_wanted' but no 'revoke': provide "
			      "both, or neither");
	if (rc == 0)
		rc = check_pair("resize", DLKI_HAS(b, resize), "RESIZE",
				(caps & DLOCK_CAP_RESIZE) != 0, err);
	return rc;
}

/* Capabilities, and the capability that each builds on. */
static const struct {
	uint32_t bit, needs;
} builds_on[] = {
	{ DLOCK_CAP_FENCE_DURABLE, DLOCK_CAP_FENCE },
	{ DLOCK_CAP_UPGRADE, DLOCK_CAP_SHARED },
	{ DLOCK_CAP_RESIZE, DLOCK_CAP_COUNT },
	{ DLOCK_CAP_PERMITS, DLOCK_CAP_COUNT },
	{ DLOCK_CAP_REVOKE_PERMITS, DLOCK_CAP_COUNT },
	{ DLOCK_CAP_REVOKE_PERMITS, DLOCK_CAP_WANTED },
};

static int check_caps(uint32_t caps, struct dlk_error *err)
{
	for (unsigned int i = 0; i < 32; i++) {
		if (caps & UINT32_C(1) << i &&
		    !dlock_cap_name(UINT32_C(1) << i))
			return dlk_fail(err, DLOCK_EINVAL,
					"caps has bit %u, which this dlock "
					"does not know",
					i);
	}
	for (size_t i = 0; i < sizeof(builds_on) / sizeof(builds_on[0]); i++) {
		if (!(caps & builds_on[i].bit) || caps & builds_on[i].needs)
			continue;
		return dlk_fail(err, DLOCK_EINVAL,
				"has the capability %s without %s: set this "
				"bit, too, or drop the first",
				dlock_cap_name(builds_on[i].bit),
				dlock_cap_name(builds_on[i].needs));
	}
	return 0;
}

int dlki_backend_check(const struct dlock_backend *b, struct dlk_error *err)
{
	int rc = check_members(b, err);

	if (rc == 0)
		rc = check_caps(b->caps, err);
	if (rc == 0)
		rc = check_pairs(b, err);
	if (rc == 0 && b->params)
		rc = dlki_params_check(b->params, err);
	return rc;
}
