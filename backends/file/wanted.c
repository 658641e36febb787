/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer's claim, kept or passed on until another session wants it; and
 * holders of permits that hear of a revoke.
 *
 * A client that finds the lock busy announces itself (notify.h), even for a
 * try, and the session with the claim listens for the announcement.  So a watch
 * costs only the watching session.  The holders of permits are not to hear of
 * waiters, so the revoke of a semaphore is another event: new times of the
 * file, with the same content.
 */
#include "backends/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/name.h"
#include "backends/file/notify.h"
#include "backends/file/state.h"
#include "backends/file/token.h"
#include "core/base/error.h"

/* Do waiters of other sessions wait?  With n->mu held.  A waiter locks a slot
 * before announcing itself.  The probe does not see the slots of this session's
 * waiters, which are locked through the same description.  If all slots are
 * this session's, others may wait without a slot. */
static int others_wait(const struct file_name *n)
{
	return n->waiter_slots == UINT64_MAX ||
	       dlki_file_probe(n->inode_fd, F_WRLCK, FILE_WAITERS,
			       FILE_WAITER_SLOTS) != F_UNLCK;
}

/* Listen for announcements, then look for waiters.  With n->mu held. */
static int watch(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	int rc = -1;

	if (!n->stale && !n->session->remote_ok)
		rc = dlki_file_hear_waiters(n);
	if (n->stale)
		return dlk_fail(err, DLOCK_ELOST,
				"the lock file was removed or replaced");
	if (rc < 0)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"without inotify, or with remote=on, nobody "
				"tells us of waiters");
	t->revocable = t->base.request.kind == DLK_SEMAPHORE;
	if (t->revocable)
		return 0;
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

/* Open and close the lock file, as a waiter of another client would. */
static int announce(const struct file_session *s, const char *file)
{
	return dlki_file_entry_signal(s, file, O_RDONLY);
}

static int touch(const struct file_session *s, const char *file)
{
	return utimensat(s->dirfd, file, NULL, AT_SYMLINK_NOFOLLOW);
}

int dlki_file_revoke(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	char *file = dlki_file_entry_name(s, request->key, "");
	int (*tell)(const struct file_session *s, const char *file) =
		request->kind == DLK_SEMAPHORE ? touch : announce;
	int rc = dlki_file_dir_follow(s, err);

	(void)deadline;
	if (!file)
		return dlki_nomem(err);
	if (rc == 0 && tell(s, file) < 0 && errno != ENOENT)
		rc = dlki_file_fail(err, errno, "open or touch lock file",
				    file);
	free(file);
	return rc;
}
