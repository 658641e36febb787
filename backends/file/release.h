/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a ticket gives up bytes and name, for attempt.c.
 */
#ifndef DLOCK_BACKENDS_FILE_RELEASE_H
#define DLOCK_BACKENDS_FILE_RELEASE_H

struct file_ticket;

/* With name->mu held: wait no more. */
void dlki_file_stop_waiting(struct file_ticket *t);

/* With name->mu held: wait no more, and unlock all bytes.  The
 * descriptor to close without the mutex, or -1. */
int dlki_file_give_up(struct file_ticket *t);

/* Without name->mu: close `fd` if it is not -1, then notify and wake as the
 * ticket says. */
void dlki_file_after_unlock(struct file_ticket *t, int fd);

/* Give up everything, and let go of the name. */
void dlki_file_leave_name(struct file_ticket *t);

#endif
