/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: a byte for each participant, with a record in the file.  The record
 * describes the participant, and the lock on the byte proves the participant
 * alive.
 *
 * A permit of a semaphore is a slot, and the lock on the slot excludes others.
 * A reader or waiter takes a slot for inspect() only, and can do without.
 */
#ifndef DLOCK_BACKENDS_FILE_SLOT_H
#define DLOCK_BACKENDS_FILE_SLOT_H

#include <stdint.h>

struct file_ticket;

/* With name->mu held, and no other holder's slot being locked meanwhile.  Lock
 * a free slot out of `permits`; 0: a reader's slot.  1 locked, 0 no free slot
 * found, -1 and errno. */
int dlki_file_slot_lock(struct file_ticket *t, int fd, uint32_t permits);

/* Did dlki_file_slot_lock() try all of so many permits, if it found none
 * free? */
int dlki_file_slot_tries_all(uint32_t permits);

/* Write the record of the locked slot, or of each of several. */
void dlki_file_slot_record(const struct file_ticket *t, int fd);

/* Does the state, or the record of the slot, say that the ticket holds? */
int dlki_file_slot_tells(const struct file_ticket *t);

/* With name->mu held: lock a waiter's slot and write the record, if a slot is
 * free. */
void dlki_file_waiter_slot_lock(struct file_ticket *t);

/* Without name->mu: unlock the waiter's slot.  If a record names this very
 * request as the holder, unlock the slot after the lock: see
 * dlki_file_slot_tells(). */
void dlki_file_waiter_slot_unlock(struct file_ticket *t);

#endif
