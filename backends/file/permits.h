/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several permits of a semaphore at once: a request gets all permits, or no
 * permit.  The holder locks a byte for each permit, so earlier versions, which
 * know only single permits, count right.
 *
 * The first such request that waits locks the line: the kernel then tells every
 * later request how many permits the waiter wants.
 */
#ifndef DLOCK_BACKENDS_FILE_PERMITS_H
#define DLOCK_BACKENDS_FILE_PERMITS_H

struct file_ticket;

/* With name->mu held and the seal locked, t->limit being known: lock as many
 * bytes as the request asks for, or no byte.  1: locked, 0: too few are free,
 * -1 and errno. */
int dlki_file_permits_lock(struct file_ticket *t, int fd);

/* With name->mu held: lock the line; returns as dlki_file_lock().  Unlock the
 * line, and have the waiters try again when name->mu is unlocked. */
int dlki_file_permits_lock_line(struct file_ticket *t, int fd);
void dlki_file_permits_leave_line(struct file_ticket *t);

/* Does a request by another description wait in the line?  A request for more
 * than t->limit can never be granted, and is no reason to wait.  *can_go: so
 * many permits are free. */
int dlki_file_permits_line(const struct file_ticket *t, int fd, int *can_go);

#endif
