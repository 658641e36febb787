/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"

static const char *const schemes[] = { "file", NULL };

static const struct dlk_param params[] = {
	{ .name = "remote",
	  .type = DLK_SWITCH,
	  .def = "off",
	  .text = "Take a directory on a network file system, where other "
		  "hosts may not see our locks." },
	{ .name = "sync",
	  .type = DLK_SWITCH,
	  .def = "off",
	  .text = "Flush tokens to the disk, so that they rise over a power "
		  "failure also if the clock was set back." },
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
				"a file: store knows no user or password");
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

static int fill(struct file_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base.uri;
	size_t n;

	s->remote_ok = dlk_param_int(uri, "remote") != 0;
	s->sync = dlk_param_int(uri, "sync") != 0;
	if (asprintf(&s->prefix, "%s.", dlk_param_text(uri, "prefix")) < 0)
		s->prefix = NULL;
	s->dir = strdup(uri->path);
	if (!s->prefix || !s->dir || dlki_file_names_init(s) < 0)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	for (n = strlen(s->dir); n > 1 && s->dir[n - 1] == '/';)
		s->dir[--n] = '\0';
	if (dlki_random(&s->id, sizeof(s->id), err) != 0)
		return err->code;
	s->id |= 1;
	return dlki_file_dir_open(s, err);
}

static void drop(struct file_session *s)
{
	if (s->by_key)
		dlki_file_names_free(s);
	dlki_file_fds_close(s->quiet);
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
	s->dirfd = s->inotify = s->quiet = -1;
	atomic_init(&s->changes, 2);
	if (pthread_mutex_init(&s->mu, NULL))
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	rc = fill(s, err);
	if (rc < 0) {
		drop(s);
		return rc;
	}
	/* Nothing expires; what can happen is that the file is removed. */
	base->check_ms = base->ttl_ms / 3 > 0 ? base->ttl_ms / 3 : 1;
	base->ttl_ms = 0;
	base->margin_ms = 0;
	return 0;
}

static void file_close(struct dlk_session *base, dlk_time deadline)
{
	struct file_session *s = file_session(base);

	(void)deadline;
	dlki_file_watch_stop(s);
	drop(s);
}

/* When the path cannot be looked at, the file itself says if it has any. */
static int stands(const struct file_ticket *t)
{
	struct stat st;
	int rc = dlki_file_name_stands(t->name);

	if (rc >= 0)
		return rc;
	return fstat(t->fd, &st) < 0 || st.st_nlink > 0;
}

static void file_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		       enum dlk_lease verdict[], size_t n, dlk_time deadline,
		       struct dlk_error *err)
{
	struct file_ticket *ft;
	size_t i;

	(void)base;
	(void)deadline;
	(void)err;
	for (i = 0; i < n; i++) {
		ft = file_ticket(t[i]);
		if (ft->stake != FILE_HOLDER) {
			verdict[i] = DLK_GONE;
			continue;
		}
		pthread_mutex_lock(&ft->name->mu);
		if (!ft->name->stale && stands(ft)) {
			dlki_file_publish(ft);
			verdict[i] = DLK_STANDS;
		} else {
			dlki_file_name_stale(ft->name);
			verdict[i] = DLK_GONE;
		}
		pthread_mutex_unlock(&ft->name->mu);
	}
}

const struct dlock_backend dlki_file_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "locks on files of this host, by the kernel",
	.caps = DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_FENCE |
		DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE |
		DLOCK_CAP_CONSISTENT | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST,
	.params = params,
	.session_size = sizeof(struct file_session),
	.ticket_size = sizeof(struct file_ticket),
	.open = file_open,
	.close = file_close,
	.attempt = dlki_file_attempt,
	.renew = file_renew,
	.release = dlki_file_release,
	.downgrade = dlki_file_downgrade,
	.inspect = dlki_file_inspect,
	.list = dlki_file_list,
	.break_ = dlki_file_break,
};
