/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/root.h"
#include "backends/zk/call.h"
#include "backends/zk/session.h"

#include <string.h>

#define MOST_LEVELS ((ZK_ROOT_MAX + 1) / 2)
#define TRIES 8 /* others may delete the nodes meanwhile */

static int is_there(const struct zk_call *create)
{
	return create && (create->rc == ZOK || create->rc == ZNODEEXISTS);
}

/* Ask for all levels at once, from the top.  Returns the number of calls. */
static size_t create_levels(struct zk_session *s, struct zk_call *calls[])
{
	const char *root = s->config.root;
	char path[ZK_ROOT_MAX + 1];
	size_t n = 0;

	for (size_t len = 1; root[len - 1]; len++) {
		if (root[len] != '/' && root[len] != '\0')
			continue;
		memcpy(path, root, len);
		path[len] = '\0';
		calls[n++] = dlki_zk_create(s, path, "", 0, 0);
	}
	return n;
}

/* The server checks the access list of the parent first: an existing level may
 * be ZNOAUTH.  So the reason is the failure just above the missing levels. */
static int why_not(const struct zk_session *s, struct zk_call *const calls[],
		   size_t n, struct dlk_error *err)
{
	const char *path;
	size_t i = n - 1;

	while (i > 0 && calls[i] && calls[i]->rc == ZNONODE)
		i--;
	if (!calls[i] || calls[i]->rc != ZNOAUTH)
		return dlki_zk_reason(calls[i], "making", err);
	path = calls[i]->path;
	i = (size_t)(strrchr(path, '/') - path);
	return dlk_fail(err, DLOCK_EDENIED,
			"the path %s does not exist in ZooKeeper, and the "
			"access list of %.*s does not let us make it: create "
			"it, or let the URI's user make nodes there (setAcl "
			"... cdrwa)",
			s->config.root, i > 0 ? (int)i : 1, path);
}

int dlki_zk_root_make(struct zk_session *s, dlk_time deadline,
		      struct dlk_error *err)
{
	struct zk_call *calls[MOST_LEVELS];

	if (!s->config.root[0])
		return dlk_fail(err, DLOCK_EPROTO,
				"%.100s says that there is no node /: is it "
				"ZooKeeper?",
				s->hosts.shown);
	if (!s->config.create)
		return dlk_fail(err, DLOCK_EINVAL,
				"the path %s does not exist in ZooKeeper; "
				"create it, or leave create=off out of the URI",
				s->config.root);
	for (int i = 0; i < TRIES; i++) {
		size_t n = create_levels(s, calls);
		int made, rc;

		dlki_zk_wait(s, calls, n, deadline);
		made = is_there(calls[n - 1]);
		rc = made ? 0 : why_not(s, calls, n, err);
		dlki_zk_drop(calls, n);
		if (made || rc != 0)
			return rc;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s vanishes as it is made",
			s->config.root);
}
