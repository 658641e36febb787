/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fencing tokens: max(the last one in the file + 1, microseconds of the wall
 * clock), written before an acquire returns.
 *
 * A session that writes (a mutex handle always does) again and again draws
 * several at once: it stores the last of them and hands them out from memory,
 * as long as nobody has stored since.  A reader, of this session too, always
 * stores, so that its token is larger than all of them.  Their number grows
 * only in a tight loop, so that the token in the file is exact wherever
 * somebody has the time to read it.
 */
#ifndef DLOCK_BACKENDS_FILE_TOKEN_H
#define DLOCK_BACKENDS_FILE_TOKEN_H

#include <dlock/backend.h>

struct file_ticket;

/* Of a name: tokens that the file says are ours, if that still holds. */
struct file_tokens {
	int header_known;         /* it is that of this lock */
	uint64_t seq, next, last;
	uint64_t batch, streak, drawn_us;
};

/* All with name->mu held.  Draw a token for a ticket whose bytes on `fd` are
 * locked.  1; 0: the file is no longer the one at its path; or the error. */
int dlki_file_draw(struct file_ticket *t, int fd, struct dlk_error *err);

/* Under the seal: how many permits there are, for the ticket.  1; 0: as many
 * are held; EINVAL if permits are held, and the ticket names another number of
 * them, which no operator has set. */
int dlki_file_find_limit(struct file_ticket *t, int fd, struct dlk_error *err);

/* Store the exact token of a writer that holds the lock, unless tokens are set
 * aside for it. */
void dlki_file_publish(struct file_ticket *t);

/* Set tokens aside for the holds to come of a writer's claim: base.token_last
 * is the last of them.  ELOST: the file is no longer the one at its path. */
int dlki_file_set_aside(struct file_ticket *t, struct dlk_error *err);

/* Before a watched claim is unlocked: the next token need only be larger than
 * those that its holds were given. */
void dlki_file_give_back(const struct file_ticket *t);

#endif
