/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/file.h"

#include <dlock/backend.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/inotify.h"
#include "backends/file/notify.h"
#include "backends/file/table.h"
#include "core/base/error.h"

static const char *const schemes[] = { "file", NULL };

static const struct dlk_param params[] = {
	{ .name = "share",
	  .type = DLK_CHOICE,
	  .def = "user",
	  .choices = FILE_SHARE_CHOICES,
	  .text = "Who may use, and spoil, the locks: one user, the members of "
		  "the directory's group, or all users." },
	{ .name = "remote",
	  .type = DLK_SWITCH,
	  .def = "off",
	  .text = "Accept a directory on a network file system, where other "
		  "hosts may not see our locks." },
	{ .name = "keep_file",
	  .type = DLK_SWITCH,
	  .def = "off",
	  .text = "Leave the files of locks that nobody uses, so that the next "
		  "acquire need not make them." },
	{ .name = "sync",
	  .type = DLK_SWITCH,
	  .def = "off",
	  .text = "Flush tokens to the disk, so they rise over a power "
		  "failure even if the clock was set back." },
	{ 0 }
};

static int check_uri(const struct dlk_uri *uri, struct dlk_error *err)
{
	const char *host = uri->n_hosts ? uri->hosts[0].name : NULL;

	if (uri->n_hosts > 1 || (uri->n_hosts && uri->hosts[0].port) ||
	    (host && *host && strcmp(host, "localhost")))
		return dlk_fail(err, DLOCK_EINVAL,
				"a file: store is on this "
				"host; write file:///directory without host "
				"'%.100s'",
				host ? host : "");
	if (uri->user || uri->password)
		return dlk_fail(err, DLOCK_EINVAL,
				"a file: store takes no user or password");
	if (!uri->path || uri->path[0] != '/')
		return dlk_fail(err, DLOCK_EINVAL,
				"a file: store needs an "
				"absolute directory, file:///directory, not "
				"'%.100s'",
				uri->path ? uri->path : "");
	if (strlen(uri->path) > PATH_MAX - NAME_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"the path of the file: "
				"store's directory is too long");
	return 0;
}

static int session_init(struct file_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base.uri;
	size_t n;

	s->share = (enum file_share)dlk_param_int(uri, "share");
	s->remote_ok = dlk_param_int(uri, "remote") != 0;
	s->keep_files = dlk_param_int(uri, "keep_file") != 0;
	s->sync = dlk_param_int(uri, "sync") != 0;
	if (asprintf(&s->prefix, "%s.", dlk_param_text(uri, "prefix")) < 0)
		s->prefix = NULL;
	s->dir = strdup(uri->path);
	if (!s->prefix || !s->dir || dlki_file_table_init(s) < 0)
		return dlki_nomem(err);
	for (n = strlen(s->dir); n > 1 && s->dir[n - 1] == '/';)
		s->dir[--n] = '\0';
	if (dlk_random(&s->id, sizeof(s->id), err) != 0)
		return err->code;
	s->id |= 1;
	return dlki_file_dir_open(s, err);
}

static void session_free(struct file_session *s)
{
	if (s->table.by_key)
		dlki_file_table_free(s);
	dlki_file_fds_close(s->dirfd);
	free(s->dir);
	free(s->prefix);
	pthread_mutex_destroy(&s->mu);
}

static int file_open(struct dlk_session *base, dlk_time deadline,
		     struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	int rc;

	(void)deadline;
	rc = check_uri(base->uri, err);
	if (rc < 0)
		return rc;
	s->dirfd = s->inotify.fd = -1;
	s->inotify.on_event = dlki_file_on_event;
	atomic_init(&s->inotify.count, 2);
	if (pthread_mutex_init(&s->mu, NULL))
		return dlki_nomem(err);
	rc = session_init(s, err);
	if (rc < 0) {
		session_free(s);
		return rc;
	}
	/* No claim expires, but the file may be removed. */
	base->check_ms = base->ttl_ms / 3 > 0 ? base->ttl_ms / 3 : 1;
	base->ttl_ms = 0;
	base->margin_ms = 0;
	return 0;
}

static void file_close(struct dlk_session *base, dlk_time deadline)
{
	struct file_session *s = file_session(base);

	(void)deadline;
	dlki_file_inotify_stop(s);
	session_free(s);
}

const struct dlock_backend dlki_file_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "locks on files of this host, by the kernel",
	.caps = DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_FENCE |
		DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE |
		DLOCK_CAP_CONSISTENT | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST |
		DLOCK_CAP_WANTED | DLOCK_CAP_RESIZE | DLOCK_CAP_UPGRADE |
		DLOCK_CAP_PERMITS | DLOCK_CAP_REVOKE_PERMITS |
		DLOCK_CAP_NO_THREADS,
	.params = params,
	.session_size = sizeof(struct file_session),
	.ticket_size = sizeof(struct file_ticket),
	.open = file_open,
	.close = file_close,
	.attempt = dlki_file_attempt,
	.renew = dlki_file_renew,
	.release = dlki_file_release,
	.downgrade = dlki_file_downgrade,
	.inspect = dlki_file_inspect,
	.list = dlki_file_list,
	.break_ = dlki_file_break,
	.pump = dlki_file_pump,
	.watch_wanted = dlki_file_watch_wanted,
	.revoke = dlki_file_revoke,
	.resize = dlki_file_resize,
};
