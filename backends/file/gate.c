/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/gate.h"

#include <fcntl.h>

#include "backends/file/bytes.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "backends/file/permits.h"

#define GATE_NS (1000 * DLK_MS) /* a ticket that lets this time pass is stuck */

/* Does another ticket at the gate keep this ticket out, and can the other
 * ticket be granted now? */
static int other_at_gate(const struct file_ticket *t, int fd, int *can_go)
{
	if (t->base.request.kind == DLK_SEMAPHORE)
		return dlki_file_permits_line(t, fd, can_go);
	if (dlki_file_probe(fd, F_RDLCK, FILE_GATE, 1) == F_UNLCK)
		return 0;
	*can_go = dlki_file_probe(fd, F_WRLCK, FILE_MAIN, 1) == F_UNLCK;
	return 1;
}

int dlki_file_gate_is_shut(struct file_ticket *t, int fd)
{
	dlk_time now;
	int can_go;

	if (!other_at_gate(t, fd, &can_go)) {
		t->idle_gate = 0;
		return 0;
	}
	if (dlki_file_probe(fd, F_WRLCK, FILE_PASS, 1) != F_UNLCK)
		return 0;
	now = dlk_now();
	if (!can_go)
		t->idle_gate = 0;
	else if (!t->idle_gate)
		t->idle_gate = now;
	if (!t->idle_gate || now - t->idle_gate < GATE_NS)
		return 1;
	(void)dlki_file_lock(fd, F_RDLCK, FILE_PASS);
	return 0;
}

/* Does the writer wait for a writer, not for readers? */
static int is_behind_writer(const struct file_ticket *t, int fd)
{
	return t->base.request.kind == DLK_LOCK &&
	       dlki_file_probe(fd, F_RDLCK, FILE_MAIN, 1) != F_UNLCK;
}

void dlki_file_gate_shut(struct file_ticket *t)
{
	struct file_name *n = t->name;
	int fd, rc;

	if (t->owns != FILE_OWNS_NOTHING || !n->n_fds)
		return;
	fd = n->fds[n->n_fds - 1];
	t->behind_writer = is_behind_writer(t, fd);
	if (t->behind_writer)
		return;
	rc = t->base.request.kind == DLK_LOCK ?
		     dlki_file_lock(fd, F_WRLCK, FILE_GATE) :
		     dlki_file_permits_lock_line(t, fd);
	if (rc != 1)
		return;
	n->n_fds--;
	n->held++;
	t->owns = FILE_OWNS_GATE;
	t->fd = fd;
}
