/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/permits.h"

#include "backends/file/bytes.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "backends/file/state.h"

#define LINE_END (FILE_LINE + FILE_HOLDERS_LEN)

/* Note the slots from `slot` on, before the next slots are locked. */
static void note_slots(struct file_ticket *t, uint32_t slot, uint32_t n)
{
	if (t->slot == FILE_NO_SLOT)
		t->slot = t->name->last_slot = slot;
	for (; n && slot < FILE_HOLDER_SLOTS; n--)
		t->slots |= UINT64_C(1) << slot++;
}

static int lock_slots(struct file_ticket *t, int fd, off_t at, uint32_t n)
{
	int rc = dlki_file_lock_run(fd, at, n);

	if (rc == 1)
		note_slots(t, (uint32_t)(at - FILE_HOLDERS), n);
	return rc;
}

/* Lock free bytes from `at` to before `end`, up to *n of them, and take them
 * off *n.  Goes on recursively, as dlki_file_count(). */
static int lock_free(struct file_ticket *t, int fd, off_t at, off_t end,
		     uint32_t *n)
{
	off_t from, to;
	int rc = 1;

	while (rc > 0 && at < end && *n) {
		if (!dlki_file_find(fd, at, end, &from, &to)) {
			uint32_t some = end - at < *n ? (uint32_t)(end - at) :
							*n;

			rc = lock_slots(t, fd, at, some);
			*n -= rc > 0 ? some : 0;
			break;
		}
		rc = lock_free(t, fd, at, from, n);
		at = to;
	}
	return rc;
}

int dlki_file_permits_lock(struct file_ticket *t, int fd)
{
	uint32_t want = t->base.request.permits;
	int rc;

	t->slot = FILE_NO_SLOT;
	t->slots = 0;
	if (want > t->limit ||
	    dlki_file_count(fd, FILE_HOLDERS, FILE_WAITERS) > t->limit - want)
		return 0;
	rc = lock_free(t, fd, FILE_HOLDERS, FILE_HOLDERS + t->limit, &want);
	if (rc > 0 && want == 0)
		return 1;
	dlki_file_unlock_run(fd, FILE_HOLDERS, FILE_HOLDERS_LEN);
	return rc < 0 ? -1 : 0;
}

int dlki_file_permits_lock_line(struct file_ticket *t, int fd)
{
	return dlki_file_lock_run(fd, FILE_LINE, t->base.request.permits);
}

void dlki_file_permits_leave_line(struct file_ticket *t)
{
	dlki_file_unlock_run(t->fd, FILE_LINE, FILE_HOLDERS_LEN);
	t->notify = t->wake = 1;
}

int dlki_file_permits_line(const struct file_ticket *t, int fd, int *can_go)
{
	off_t from, to;
	uint32_t want;

	if (!dlki_file_find(fd, FILE_LINE, LINE_END, &from, &to))
		return 0;
	want = (uint32_t)(to - from);
	*can_go = want <= t->limit &&
		  dlki_file_count(fd, FILE_HOLDERS, FILE_WAITERS) <=
			  t->limit - want;
	return want <= t->limit;
}
