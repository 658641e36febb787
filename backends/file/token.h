/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fencing tokens: max(the last token in the file + 1, microseconds of the wall
 * clock), written before an acquire returns.
 *
 * A session that writes (a mutex handle always does) again and again draws
 * several tokens at once: the session stores the last of them and hands them
 * out from memory, until another writer or a reader stores.  A reader, of this
 * session too, always stores, so the reader's token is larger than all of them.
 * Batches grow only in a tight loop: the token in the file is exact whenever
 * there is time to read it.
 */
#ifndef DLOCK_BACKENDS_FILE_TOKEN_H
#define DLOCK_BACKENDS_FILE_TOKEN_H

#include <dlock/backend.h>

struct file_ticket;

/* Of a name: tokens that are this session's, unless the file has changed. */
struct file_tokens {
	int header_known;         /* the header is known as this lock's */
	uint64_t seq, next, last;
	uint64_t batch, streak, drawn_us;
};

/* All with name->mu held.  Draw a token for a ticket whose bytes on `fd` are
 * locked.  1; 0: the path no longer leads to the file; or the error. */
int dlki_file_draw(struct file_ticket *t, int fd, struct dlk_error *err);

/* Find the number of permits for the ticket, under the seal.  1; 0: all permits
 * are held; EINVAL if permits are held, the ticket names another number, and
 * the number was not set by an operator. */
int dlki_file_find_limit(struct file_ticket *t, int fd, struct dlk_error *err);

/* Store the exact token of a writer that holds the lock, unless tokens are set
 * aside for the claim. */
void dlki_file_publish(struct file_ticket *t);

/* Set tokens aside for the holds to come of a writer's claim; base.token_last
 * is the last token.  ELOST: the path no longer leads to the file. */
int dlki_file_set_aside(struct file_ticket *t, struct dlk_error *err);

/* Give back unused tokens before a watched claim is unlocked: the next token
 * need only be larger than the tokens given to the claim's holds. */
void dlki_file_give_back(const struct file_ticket *t);

#endif
