/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/slot.h"

#include <fcntl.h>
#include <string.h>

#include "backends/file/bytes.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "backends/file/state.h"

#define PERMIT_TRIES 256
#define READER_TRIES 8 /* a reader needs no slot */

static int try_slot(struct file_ticket *t, int fd, uint32_t slot)
{
	int rc = dlki_file_lock(fd, F_WRLCK, FILE_HOLDERS + slot);

	if (rc)
		t->slot = t->name->last_slot = slot;
	return rc;
}

/* Try a run of `tries` among the first `slots` slots, from a random slot on. */
static int try_run(struct file_ticket *t, int fd, uint32_t slots,
		   uint32_t tries)
{
	uint32_t slot = (uint32_t)dlk_now() * 2654435761u % slots;
	int rc = 0;

	for (; tries && !rc; tries--) {
		rc = try_slot(t, fd, slot);
		slot = slot + 1 < slots ? slot + 1 : 0;
	}
	return rc;
}

int dlki_file_slot_tries_all(uint32_t permits)
{
	return permits <= PERMIT_TRIES;
}

/*
 * Try the most likely free slot first, then slots with a record.  Of more than
 * PERMIT_TRIES permits only a run is tried.  The run may miss the few free
 * permits; the next attempt tries another run.
 */
int dlki_file_slot_lock(struct file_ticket *t, int fd, uint32_t permits)
{
	struct file_name *n = t->name;
	uint32_t slots = permits ? permits : FILE_HOLDER_SLOTS;
	uint32_t tries = permits ? PERMIT_TRIES : READER_TRIES;
	uint32_t hint;
	int rc = 0;

	if (n->last_slot < slots)
		rc = try_slot(t, fd, n->last_slot);
	if (!rc && dlki_file_hint(fd, &hint) == 0 && hint < slots)
		rc = try_slot(t, fd, hint);
	if (!rc && slots > FILE_HOLDER_SLOTS)
		rc = try_run(t, fd, FILE_HOLDER_SLOTS, READER_TRIES);
	if (!rc)
		rc = try_run(t, fd, slots, tries < slots ? tries : slots);
	if (!rc)
		t->slot = FILE_NO_SLOT;
	return rc;
}

void dlki_file_slot_record(const struct file_ticket *t, int fd)
{
	struct file_participant p;
	uint64_t slots = t->slots;

	if (t->slot >= FILE_HOLDER_SLOTS)
		return; /* waiters' records follow */
	if (!slots)
		slots = UINT64_C(1) << t->slot;
	memset(&p, 0, sizeof(p));
	p.token = t->base.token_used ? t->base.token_used : t->base.token;
	p.session = t->name->session->id;
	p.ticket = t->base.id;
	p.shared = file_shared(t->base.request.permits);
	dlki_file_label(p.label, t->base.request.label);
	for (uint32_t i = 0; i < FILE_HOLDER_SLOTS; i++) {
		if (slots >> i & 1)
			(void)dlki_file_participant_store(fd, i, &p);
	}
}

int dlki_file_slot_tells(const struct file_ticket *t)
{
	return t->base.request.mode == DLK_EXCLUSIVE ||
	       t->slot < FILE_HOLDER_SLOTS;
}

void dlki_file_waiter_slot_lock(struct file_ticket *t)
{
	struct file_name *n = t->name;
	struct file_participant p = {
		.session = n->session->id,
		.ticket = t->base.id,
	};
	uint32_t i;

	for (i = 0; i < FILE_WAITER_SLOTS; i++) {
		if (n->waiter_slots >> i & 1)
			continue;
		if (dlki_file_lock(n->inode_fd, F_WRLCK, FILE_WAITERS + i) == 1)
			break;
	}
	if (i == FILE_WAITER_SLOTS)
		return;
	if (t->base.request.mode == DLK_SHARED)
		p.shared = file_shared(t->base.request.permits);
	t->waiter_slot = i + 1;
	n->waiter_slots |= UINT64_C(1) << i;
	dlki_file_label(p.label, t->base.request.label);
	(void)dlki_file_participant_store(n->inode_fd, FILE_HOLDER_SLOTS + i,
					  &p);
}

void dlki_file_waiter_slot_unlock(struct file_ticket *t)
{
	struct file_name *n = t->name;

	pthread_mutex_lock(&n->mu);
	dlki_file_unlock(n->inode_fd, FILE_WAITERS + t->waiter_slot - 1);
	n->waiter_slots &= ~(UINT64_C(1) << (t->waiter_slot - 1));
	t->waiter_slot = 0;
	pthread_mutex_unlock(&n->mu);
}
