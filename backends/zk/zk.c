/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"
#include "backends/zk/call.h"
#include "backends/zk/root.h"
#include "backends/zk/session.h"
#include "backends/zk/tick.h"
#include "core/base/error.h"

#include <stdio.h>
#include <string.h>

#define TIDY_NS (100 * DLK_MS)

static int set_root(struct zk_session *s, const struct dlk_uri *uri,
		    struct dlk_error *err)
{
	const char *path = uri->path ? uri->path : "";
	size_t len = strlen(path);

	if (len > 0 && path[len - 1] == '/')
		len--;
	if (len > ZK_ROOT_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: the path has more than %d bytes",
				uri->shown, ZK_ROOT_MAX);
	s->config.create = (int)dlk_param_int(uri, "create");
	snprintf(s->config.root, sizeof(s->config.root), "%.*s", (int)len,
		 path);
	snprintf(s->config.base, sizeof(s->config.base), "%s/%s",
		 s->config.root, dlk_param_text(uri, "prefix"));
	for (const char *p = s->config.root; *p; p++) {
		size_t n = strcspn(p + 1, "/");

		if (*p == '/' && (n == 0 || (p[1] == '.' && n == 1) ||
				  (strncmp(p + 1, "..", 2) == 0 && n == 2)))
			return dlk_fail(err, DLOCK_EINVAL,
					"%s: the path has an empty part, or "
					"one that is '.' or '..'",
					uri->shown);
	}
	return 0;
}

static int apply_uri(struct zk_session *s, const struct dlk_session *base,
		     struct dlk_error *err)
{
	const struct dlk_uri *uri = base->uri;
	int rc = set_root(s, uri, err);

	if (rc != 0)
		return rc;
	if (uri->n_hosts == 0)
		return dlk_fail(err, DLOCK_EINVAL, "%s: a host must be named",
				uri->shown);
	if (!uri->user != !uri->password)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: user and password go together",
				uri->shown);
	rc = dlki_zk_hosts_set(s, base, err);
	if (rc != 0)
		return rc;
	if (uri->user &&
	    asprintf(&s->config.auth, "%s:%s", uri->user, uri->password) < 0) {
		s->config.auth = NULL;
		return dlki_nomem(err);
	}
	return 0;
}

/* When the root is answered, so are all earlier requests on this connection,
 * such as the question whether the server is standalone.  The proof shows how
 * long a write takes, and so how long a try must wait; the first try need not
 * read the node of the tokens. */
static int read_root_once(struct zk_client *c, dlk_time deadline,
			  struct dlk_error *err)
{
	struct zk_session *s = c->session;
	const char *root = s->config.root[0] ? s->config.root : "/";
	struct zk_call *calls[3] = { dlki_zk_proof(s), dlki_zk_get(s, root),
				     dlki_zk_tokens_ask(s) };
	const struct zk_call *answer = calls[1];
	int rc;

	dlki_zk_wait(s, calls, 3, deadline);
	if (answer && answer->rc == ZNONODE)
		rc = dlki_zk_root_make(s, deadline, err);
	else if (answer && answer->rc == ZNOAUTH) /* need not be readable */
		rc = 0;
	else
		rc = dlki_zk_reason(answer, "opening", err);
	dlki_zk_drop(calls, 3);
	if (rc == 0 && !s->probe.known)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"the server does not say what it is part of");
	if (rc == 0 && dlki_zk_lease_too_short(s, err))
		rc = err->code;
	c->base.ttl_ms = s->lease.timeout_ms;
	return rc;
}

/* The server may go, or fall silent, meanwhile. */
static int read_root(struct zk_client *c, dlk_time deadline,
		     struct dlk_error *err)
{
	struct zk_session *s = c->session;
	int rc;

	do {
		rc = dlki_zk_enter(s, deadline, err);
		if (rc != 0)
			return rc;
		rc = read_root_once(c, deadline, err);
		if (rc != 0)
			dlki_zk_await_change(s, deadline);
		else
			s->hosts.patience_ns = s->lease.timeout_ms * DLK_MS / 6;
		dlki_zk_leave(s);
	} while (rc == DLOCK_EUNREACHABLE &&
		 dlk_now() < dlk_deadline(deadline));
	return rc;
}

static int begin_session(struct zk_session *s, const struct dlk_session *base,
			 dlk_time deadline, struct dlk_error *err)
{
	/* Some time is left for tidying up. */
	int rc = dlki_zk_enter(s, deadline - (deadline - dlk_now()) / 10, err);

	if (rc == 0)
		dlki_zk_leave(s);
	else if (rc == DLOCK_EUNREACHABLE)
		dlki_zk_hosts_why(s, base->uri,
				  deadline - (deadline - dlk_now()) / 2, err);
	return rc;
}

/* Until when to wait for the end of a session that was not opened.  A cancelled
 * caller waits a moment; then a thread of the session's goes on. */
static dlk_time tidied_by(dlk_time deadline)
{
	dlk_time end = dlk_deadline(deadline);
	dlk_time soon = dlk_now() + TIDY_NS;

	return end < deadline && end < soon ? soon : end;
}

static int zk_open(struct dlk_session *base, dlk_time deadline,
		   struct dlk_error *err)
{
	struct zk_client *c = (struct zk_client *)base;
	struct zk_session *s = dlki_zk_session_new(base);
	int64_t asked_ms = base->ttl_ms;
	int rc;

	if (!s)
		return dlki_nomem(err);
	c->session = s;
	s->attendant = base->attendant;
	rc = apply_uri(s, base, err);
	if (rc == 0)
		rc = dlki_zk_drive_open(s, err);
	if (rc == 0)
		rc = dlki_zk_upkeep_start(s, err);
	if (rc != 0) {
		dlki_zk_session_free(s);
		return rc;
	}
	rc = begin_session(s, base, deadline, err);
	if (rc == 0)
		rc = read_root(c, deadline - (deadline - dlk_now()) / 10, err);
	if (rc == 0)
		rc = dlki_zk_tick_learn(s, deadline, err);
	if (rc == 0)
		rc = dlk_listen(base, s->drive.set_fd, err);
	if (rc != 0) {
		dlki_zk_upkeep_stop(s, tidied_by(deadline));
		return rc;
	}
	if (base->ttl_ms != asked_ms)
		dlk_log(base, 1,
			"the server's limits make the ttl %lld ms, not %lld ms",
			(long long)base->ttl_ms, (long long)asked_ms);
	return 0;
}

static void zk_close(struct dlk_session *base, dlk_time deadline)
{
	(void)dlk_listen(base, -1, NULL);
	dlki_zk_upkeep_stop(dlki_zk_session_of(base), deadline);
}

static const struct dlk_param params[] = {
	{ "create", DLK_SWITCH, "on", 0, 0, NULL,
	  "Make the path of the URI if it is missing." },
	{ "password_file", DLK_TEXT, NULL, 1, 4096, NULL,
	  "A file whose first line is the password." },
	{ "tick", DLK_DURATION, "2s", 1, 60000, NULL,
	  "The tickTime of the servers, or more: an ensemble's leases are "
	  "counted by it, or by more if the server's `conf` or its shortest "
	  "session says so.  CONSISTENT needs one of them to be right." },
	{ 0 }
};

static const char *const schemes[] = { "zk", NULL };

const struct dlock_backend dlki_zk_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "a ZooKeeper server or ensemble",
	.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
		DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_FAIR |
		DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE | DLOCK_CAP_DURABLE |
		DLOCK_CAP_CONSISTENT | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST |
		DLOCK_CAP_WANTED | DLOCK_CAP_RESIZE | DLOCK_CAP_PERMITS |
		DLOCK_CAP_REVOKE_PERMITS | DLOCK_CAP_UPGRADE |
		DLOCK_CAP_NO_THREADS,
	.params = params,
	.session_size = sizeof(struct zk_client),
	.ticket_size = sizeof(struct zk_ticket),
	.open = zk_open,
	.close = zk_close,
	.attempt = dlki_zk_attempt,
	.renew = dlki_zk_renew,
	.release = dlki_zk_release,
	.inspect = dlki_zk_inspect,
	.list = dlki_zk_list,
	.break_ = dlki_zk_break,
	.release_all = dlki_zk_release_all,
	.pump = dlki_zk_pump,
	.watch_wanted = dlki_zk_watch_wanted,
	.revoke = dlki_zk_revoke,
	.release_begin = dlki_zk_release_begin,
	.resize = dlki_zk_resize,
	.renews_beside_watch = 1,
};
