/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer's claim that is kept, or passed on, until another session wants it.
 *
 * A client that finds the lock busy announces itself (notify.h), even for a
 * try, and the session that has the claim listens for that.  So nobody does
 * anything for a watch but the session that asked for it.
 */
#include "backends/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/name.h"
#include "backends/file/notify.h"
#include "backends/file/state.h"
#include "backends/file/token.h"

/* With n->mu held.  A waiter locks its slot before it announces itself.  The
 * slots of our own waiters are locked by the description that asks, and so are
 * not in its way.  If they are all ours, others may wait without one. */
static int others_wait(const struct file_name *n)
{
	return n->waiter_slots == UINT64_MAX ||
	       dlki_file_probe(n->inode_fd, F_WRLCK, FILE_WAITERS,
			       FILE_WAITER_SLOTS) != F_UNLCK;
}

/* With n->mu held.  Listen before we look. */
static int watch(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	int rc = n->stale ? -1 : dlki_file_hear_waiters(n);

	if (n->stale)
		return dlk_fail(err, DLOCK_ELOST,
				"the lock file was removed or replaced");
	if (rc < 0)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"without inotify nobody tells us of waiters");
	t->watched = 1;
	rc = dlki_file_set_aside(t, err);
	return rc < 0 ? rc : others_wait(n);
}

int dlki_file_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			   struct dlk_error *err)
{
	struct file_ticket *t = file_ticket(base);
	int rc;

	(void)deadline;
	pthread_mutex_lock(&t->name->mu);
	rc = watch(t, err);
	pthread_mutex_unlock(&t->name->mu);
	return rc;
}

/* Whoever opens and closes a lock file may want the lock. */
int dlki_file_revoke(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	char *file = dlki_file_entry_name(s, request->key, "");
	int rc = dlki_file_dir_follow(s, err);
	int fd;

	(void)deadline;
	if (!file)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	fd = rc == 0 ? openat(s->dirfd, file,
			      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
				      O_NOCTTY) :
		       -1;
	if (fd >= 0)
		close(fd);
	else if (rc == 0 && errno != ENOENT)
		rc = dlki_file_fail(err, errno, "open lock file", file);
	free(file);
	return rc;
}
