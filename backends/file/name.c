/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/name.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/inotify.h"
#include "backends/file/table.h"

struct file_list *dlki_file_waiting(struct file_ticket *t)
{
	const struct dlk_request *c = &t->base.request;

	return c->mode == DLK_EXCLUSIVE && !c->beside ? &t->name->writers :
							&t->name->waiting;
}

int dlki_file_name_excludes(const struct file_name *n)
{
	const struct file_ticket *t = TAILQ_FIRST(&n->holding);

	return t && t->base.request.mode == DLK_EXCLUSIVE;
}

/* Open one more description of the file.  0: another file is at the path
 * now. */
static int open_description(struct file_name *n, int *fd, struct stat *st,
			    struct dlk_error *err)
{
	int rc = dlki_file_table_entry(n->session, n->file, fd, st, err);

	if (rc < 0)
		return rc;
	if (!n->opened || (n->dev == st->st_dev && n->ino == st->st_ino))
		return 1;
	dlki_file_fds_close(*fd);
	return 0;
}

void dlki_file_name_watch(struct file_name *n)
{
	int wd = n->wd < 0 ? dlki_file_inotify_watch(n, FILE_ANNOUNCEMENT) : -1;

	if (wd < 0)
		return;
	n->notify.listens_for = FILE_ANNOUNCEMENT;
	dlki_file_name_enter_wd(n, wd);
}

int dlki_file_fd_get(struct file_name *n, int *fd, struct dlk_error *err)
{
	struct stat st;
	int rc;

	if (n->n_fds) {
		*fd = n->fds[--n->n_fds];
		return 1;
	}
	if (!n->opened) {
		rc = open_description(n, &n->inode_fd, &st, err);
		if (rc < 0)
			return rc;
		n->dev = st.st_dev;
		n->ino = st.st_ino;
		n->opened = 1;
		dlki_file_name_watch(n);
	}
	rc = open_description(n, fd, &st, err);
	if (!rc)
		dlki_file_name_stale(n);
	return rc;
}

void dlki_file_fd_put(struct file_name *n, int fd)
{
	if (n->stale || n->n_fds == FILE_FREE_FDS)
		dlki_file_fds_close(fd);
	else
		n->fds[n->n_fds++] = fd;
}

int dlki_file_fd_borrow(struct file_name *n)
{
	int fd = -1;

	pthread_mutex_lock(&n->mu);
	if (n->n_fds && dlki_file_name_stands(n) == 1)
		fd = n->fds[--n->n_fds];
	pthread_mutex_unlock(&n->mu);
	return fd;
}

void dlki_file_fd_return(struct file_name *n, int fd)
{
	pthread_mutex_lock(&n->mu);
	dlki_file_fd_put(n, fd);
	pthread_mutex_unlock(&n->mu);
}

int dlki_file_name_stands(const struct file_name *n)
{
	return dlki_file_stands(AT_FDCWD, n->path, n->dev, n->ino);
}

void dlki_file_name_stale(struct file_name *n)
{
	struct file_session *s = n->session;
	struct file_ticket *t;

	if (n->stale)
		return;
	pthread_mutex_lock(&s->mu);
	n->stale = 1;
	dlki_file_name_unlist(n);
	pthread_mutex_unlock(&s->mu);
	while (n->n_fds)
		dlki_file_fds_close(n->fds[--n->n_fds]);
	TAILQ_FOREACH(t, &n->holding, in_list)
		dlk_lost(&s->base, t->base.id,
			 "the lock file was removed or replaced");
	TAILQ_FOREACH(t, &n->writers, in_list)
		dlk_wake(&s->base, t->base.id);
	TAILQ_FOREACH(t, &n->waiting, in_list)
		dlk_wake(&s->base, t->base.id);
}
