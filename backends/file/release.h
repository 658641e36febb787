/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a ticket gives up what it has, for attempt.c.
 */
#ifndef DLOCK_BACKENDS_FILE_RELEASE_H
#define DLOCK_BACKENDS_FILE_RELEASE_H

struct file_ticket;

/* With name->mu held: leave name->waiting. */
void dlki_file_stop_waiting(struct file_ticket *t);

/* With name->mu held: also unlock all bytes.  The descriptor to close when it
 * is not, or -1. */
int dlki_file_give_up(struct file_ticket *t);

/* Without name->mu: close `fd` if it is not -1, and do what the ticket says is
 * due. */
void dlki_file_after_unlock(struct file_ticket *t, int fd);

/* All of that, and let go of the name. */
void dlki_file_leave_name(struct file_ticket *t);

#endif
