/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks on bytes, by open file description (F_OFD_SETLK, never the form that
 * blocks).  The bytes lie far beyond the end of the file:
 *
 *   MAIN     the writer (exclusive), the readers (shared); a mutex is always
 *            a writer
 *   GATE     locked by the first writer that waits for readers, to keep later
 *            readers out
 *   SEAL     locked for microseconds while a reader or a permit is granted
 *   PASS     locked, shared, by readers that found the writer at the gate
 *            stopped: other readers may follow
 *   HOLDERS  a slot for each permit of a semaphore, and for each of up to
 *            FILE_HOLDER_SLOTS readers, so that inspect() finds the holders
 *   WAITERS  a slot for each of up to FILE_WAITER_SLOTS waiters, likewise
 *   LINE     as many bytes from here on as the first request that waits for
 *            several permits asks for; later requests stay behind it
 */
#ifndef DLOCK_BACKENDS_FILE_BYTES_H
#define DLOCK_BACKENDS_FILE_BYTES_H

#include <stdint.h>
#include <sys/types.h>

#define FILE_MAIN ((off_t)1 << 32)
#define FILE_GATE (FILE_MAIN + 1)
#define FILE_SEAL (FILE_MAIN + 2)
#define FILE_PASS (FILE_MAIN + 3)
#define FILE_HOLDERS ((off_t)1 << 33)
#define FILE_HOLDERS_LEN ((off_t)1 << 32)
#define FILE_WAITERS (FILE_HOLDERS + FILE_HOLDERS_LEN)
#define FILE_LINE ((off_t)1 << 34)

/* Lock a byte, shared if `type` is F_RDLCK.  1: locked, 0: others have the
 * byte, -1 and errno. */
int dlki_file_lock(int fd, short type, off_t at);
void dlki_file_unlock(int fd, off_t at);

/* Lock or unlock all of `len` bytes.  Returns as dlki_file_lock(). */
int dlki_file_lock_run(int fd, off_t at, off_t len);
void dlki_file_unlock_run(int fd, off_t at, off_t len);
void dlki_file_unlock_all(int fd);

/* Lock the whole file, as a client does for a moment to remove or replace the
 * file: there is no holder or waiter meanwhile.  Returns as
 * dlki_file_lock(). */
int dlki_file_lock_all(int fd);
int dlki_file_all_locked(int fd);

/* Would a lock of `type` on len bytes (0: to the end) conflict with a holder's
 * or waiter's lock by another description?  Returns that lock's type, or
 * F_UNLCK. */
short dlki_file_probe(int fd, short type, off_t at, off_t len);

/* Find a lock of another description on any byte from `at` to before `end`: 1,
 * and the locked bytes among these are from `from` to before `to`.  0: none. */
int dlki_file_find(int fd, off_t at, off_t end, off_t *from, off_t *to);

/* How many bytes from `at` to before `end` have others locked? */
uint32_t dlki_file_count(int fd, off_t at, off_t end);

#endif
