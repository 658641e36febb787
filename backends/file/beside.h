/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upgrade holds by the description of the reader beside it.  The kernel
 * turns the shared lock of a description into an exclusive lock, and back, in a
 * single step.
 *
 * All functions need name->mu.
 */
#ifndef DLOCK_BACKENDS_FILE_BESIDE_H
#define DLOCK_BACKENDS_FILE_BESIDE_H

struct file_ticket;

/* Find the reader of the request, or NULL. */
struct file_ticket *dlki_file_beside_find(const struct file_ticket *t);

/* Begin to hold by the reader's description, which has the exclusive lock now.
 * Give back `fd`, the description of the attempt. */
void dlki_file_beside_begin(struct file_ticket *t, struct file_ticket *reader,
			    int fd);

/* Turn the exclusive lock of `t` back into the reader's.  Other sessions may
 * have met the exclusive lock: a notification is due. */
void dlki_file_beside_share(struct file_ticket *t,
			    const struct file_ticket *reader);

/* End an upgrade or a reader that shares the description with the other ticket.
 * The ticket has left name->holding.  0: the ticket shares no description. */
int dlki_file_beside_end(struct file_ticket *t);

#endif
