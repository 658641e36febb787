/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: one byte for each participant, with a record in the file.  The record
 * says who the participant is, and the lock on the byte says that it lives.
 *
 * A permit of a semaphore is a slot, and its lock is what excludes others.  A
 * reader or waiter takes one for inspect() only, and can do without.
 */
#ifndef DLOCK_BACKENDS_FILE_SLOT_H
#define DLOCK_BACKENDS_FILE_SLOT_H

#include <stdint.h>

struct file_ticket;

/* With name->mu held, and no other holder's slot being locked meanwhile.  Lock
 * a free slot out of `permits`, or a reader's if that is 0.  1 locked, 0 none
 * was found, -1 and errno. */
int dlki_file_slot_lock(struct file_ticket *t, int fd, uint32_t permits);

/* Were all of so many permits tried if none was found? */
int dlki_file_slot_tries_all(uint32_t permits);

/* Write the record of the slot that was locked. */
void dlki_file_slot_record(const struct file_ticket *t, int fd);

/* Does the state, or the record of its slot, tell that the ticket holds? */
int dlki_file_slot_tells(const struct file_ticket *t);

/* With name->mu held: lock a waiter's slot and write its record, if one is
 * free. */
void dlki_file_waiter_slot_lock(struct file_ticket *t);

/* Without name->mu.  If a record says that this very request holds the lock,
 * not before that lock is released: see dlki_file_slot_tells(). */
void dlki_file_waiter_slot_unlock(struct file_ticket *t);

#endif
