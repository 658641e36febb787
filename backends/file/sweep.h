/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing a lock file that nobody uses.
 *
 * All bytes that anybody could hold or wait with are locked meanwhile.  A
 * client that opened the file before can lock it afterwards.  It then finds
 * that the file is no longer at its path: each grant checks that, last of all.
 */
#ifndef DLOCK_BACKENDS_FILE_SWEEP_H
#define DLOCK_BACKENDS_FILE_SWEEP_H

struct file_name;

/* Of a name that has left the table, without references: remove its file if it
 * is ours and nobody holds or waits. */
void dlki_file_sweep(const struct file_name *n);

#endif
