/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/beside.h"

#include <fcntl.h>
#include <string.h>

#include "backends/file/bytes.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "backends/file/state.h"

struct file_ticket *dlki_file_beside_find(const struct file_ticket *t)
{
	const char *owner = t->base.request.beside;
	struct file_ticket *r = owner ? TAILQ_FIRST(&t->name->holding) : NULL;

	while (r && strcmp(r->base.request.owner, owner) != 0)
		r = TAILQ_NEXT(r, in_list);
	return r;
}

void dlki_file_beside_begin(struct file_ticket *t, struct file_ticket *reader,
			    int fd)
{
	struct file_name *n = t->name;

	if (t->owns == FILE_OWNS_GATE)
		n->held--;
	dlki_file_unlock_all(fd);
	dlki_file_fd_put(n, fd);
	t->owns = FILE_OWNS_LOCK;
	t->fd = reader->fd;
	t->beside = reader;
}

void dlki_file_beside_share(struct file_ticket *t, const struct file_ticket *r)
{
	(void)dlki_file_lock(r->fd, F_RDLCK, FILE_MAIN);
	t->notify = 1;
}

/* Find the upgrade beside the reader, or NULL. */
static struct file_ticket *find_upgrade(const struct file_ticket *reader)
{
	struct file_ticket *w = TAILQ_FIRST(&reader->name->holding);

	while (w && w->beside != reader)
		w = TAILQ_NEXT(w, in_list);
	return w;
}

int dlki_file_beside_end(struct file_ticket *t)
{
	struct file_ticket *w = find_upgrade(t);

	if (t->beside) {
		dlki_file_beside_share(t, t->beside);
		t->beside = NULL;
	} else if (w) {
		/* The description is the upgrade's from now on. */
		w->beside = NULL;
		if (t->slot != FILE_NO_SLOT)
			dlki_file_unlock(t->fd, FILE_HOLDERS + t->slot);
		dlki_file_unlock(t->fd, FILE_PASS);
	} else {
		return 0;
	}
	t->owns = FILE_OWNS_NOTHING;
	return 1;
}
