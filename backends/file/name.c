/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>

void dlki_file_list_add(struct file_list *l, struct file_ticket *t)
{
	t->prev = NULL;
	t->next = l->head;
	if (l->head)
		l->head->prev = t;
	l->head = t;
}

void dlki_file_list_del(struct file_list *l, struct file_ticket *t)
{
	if (t->prev)
		t->prev->next = t->next;
	else
		l->head = t->next;
	if (t->next)
		t->next->prev = t->prev;
	t->prev = t->next = NULL;
}

/* One more description of the file; 0 if it is another file now. */
static int reopen(struct file_name *n, int *fd, struct stat *st,
		  struct dlk_error *err)
{
	int rc = dlki_file_entry(n->session, n->file, fd, st, err);

	if (rc < 0)
		return rc;
	if (!n->opened || (n->dev == st->st_dev && n->ino == st->st_ino))
		return 1;
	dlki_file_fds_close(*fd);
	return 0;
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
		/* If we had none open, its number could become another's. */
		rc = reopen(n, &n->pin, &st, err);
		if (rc < 0)
			return rc;
		n->dev = st.st_dev;
		n->ino = st.st_ino;
		n->opened = 1;
		(void)dlki_file_watch(n);
	}
	rc = reopen(n, fd, &st, err);
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

int dlki_file_name_stands(const struct file_name *n)
{
	struct stat st;

	/* For a moment after the notice of its removal, a file can still be
	 * found at its path, but with no links. */
	if (fstatat(AT_FDCWD, n->path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return st.st_nlink > 0 && st.st_dev == n->dev &&
		       st.st_ino == n->ino;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

void dlki_file_name_stale(struct file_name *n)
{
	struct file_session *s = n->session;
	struct file_ticket *t;

	if (n->stale)
		return;
	pthread_mutex_lock(&s->mu);
	n->stale = 1;
	dlki_file_quiet_end(n);
	dlki_file_name_unlist(n);
	pthread_mutex_unlock(&s->mu);
	while (n->n_fds)
		dlki_file_fds_close(n->fds[--n->n_fds]);
	for (t = n->holding.head; t; t = t->next)
		dlk_lost(&s->base, t->base.id,
			 "the lock file was removed or replaced");
	for (t = n->waiting.head; t; t = t->next)
		dlk_wake(&s->base, t->base.id);
}
