/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/release.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

#include "backends/file/beside.h"
#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "backends/file/notify.h"
#include "backends/file/slot.h"
#include "backends/file/state.h"
#include "backends/file/table.h"
#include "backends/file/token.h"

void dlki_file_stop_waiting(struct file_ticket *t)
{
	if (!t->waits)
		return;
	t->waits = 0;
	TAILQ_REMOVE(dlki_file_waiting(t), t, in_list);
}

int dlki_file_give_up(struct file_ticket *t)
{
	struct file_name *n = t->name;
	int fd = t->fd;

	/* The writer was woken for all writers, perhaps. */
	t->wake = t->waits && t == TAILQ_FIRST(&n->writers) &&
		  TAILQ_NEXT(t, in_list);
	dlki_file_stop_waiting(t);
	if (t->owns == FILE_OWNS_NOTHING)
		return -1;
	if (t->owns == FILE_OWNS_LOCK)
		TAILQ_REMOVE(&n->holding, t, in_list);
	if (t->owns == FILE_OWNS_LOCK && dlki_file_beside_end(t))
		return -1;
	if (t->watched)
		dlki_file_give_back(t);
	t->watched = t->revocable = 0;
	if (t->base.request.kind == DLK_SEMAPHORE && n->notify.contended)
		dlki_file_hint_store(fd, t->slot);
	dlki_file_unlock_all(fd);
	t->owns = FILE_OWNS_NOTHING;
	n->held--;
	t->wake = dlki_file_name_awaited(n);
	if (dlki_file_released(n))
		return fd;
	dlki_file_fd_put(n, fd);
	return -1;
}

void dlki_file_after_unlock(struct file_ticket *t, int fd)
{
	dlki_file_fds_close(fd);
	/* A notified waiter goes first if there is only one processor. */
	if (fd >= 0)
		sched_yield();
	if (t->notify)
		dlki_file_notify(t->name);
	if (t->wake || t->notify)
		dlki_file_wake_waiters(t->name);
	t->notify = t->wake = 0;
}

void dlki_file_leave_name(struct file_ticket *t)
{
	struct file_name *n = t->name;
	int fd, stale;

	pthread_mutex_lock(&n->mu);
	fd = dlki_file_give_up(t);
	stale = n->stale;
	pthread_mutex_unlock(&n->mu);
	dlki_file_after_unlock(t, fd);
	if (t->waiter_slot)
		dlki_file_waiter_slot_unlock(t);
	t->name = NULL;
	if (stale)
		dlki_file_name_put(n);
	else
		dlki_file_name_park(n);
}

int dlki_file_release(struct dlk_ticket *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct file_ticket *t = file_ticket(base);

	(void)deadline;
	(void)err;
	if (t->name)
		dlki_file_leave_name(t);
	return 0;
}

/* Turn the writer's lock into a reader's, which the kernel does in one step.
 * No seal is needed: until then the writer's lock keeps all other clients from
 * the slots. */
static int share_lock(struct file_ticket *t)
{
	if (dlki_file_lock(t->fd, F_RDLCK, FILE_MAIN) != 1)
		return -1;
	t->base.request.mode = DLK_SHARED;
	t->watched = 0; /* from now on others draw tokens beyond the range */
	if (dlki_file_slot_lock(t, t->fd, 0) == 1)
		dlki_file_slot_record(t, t->fd);
	dlki_file_unlock(t->fd, FILE_GATE);
	return 0;
}

int dlki_file_downgrade(struct dlk_ticket *base, dlk_time deadline,
			struct dlk_error *err)
{
	struct file_ticket *t = file_ticket(base);
	struct file_name *n = t->name;
	int rc = 0;

	(void)deadline;
	pthread_mutex_lock(&n->mu);
	if (share_lock(t) < 0)
		rc = dlki_file_fail(err, errno, "downgrade", n->file);
	else
		/* An announcement may be on its way, and no release follows
		 * soon. */
		t->notify = 1;
	pthread_mutex_unlock(&n->mu);
	dlki_file_after_unlock(t, -1);
	if (t->waiter_slot && !dlki_file_slot_tells(t))
		dlki_file_waiter_slot_unlock(t);
	return rc;
}
