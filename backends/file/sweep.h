/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing a lock file without holders and waiters.
 *
 * The sweep locks all bytes for holders and waiters.  A client that opened the
 * file before can lock it after the removal, and then finds another file at the
 * path, or none: each grant checks the path, last of all.
 */
#ifndef DLOCK_BACKENDS_FILE_SWEEP_H
#define DLOCK_BACKENDS_FILE_SWEEP_H

struct file_name;

/* Remove the file of a name that has left the table, if the file is ours, and
 * has no holder and no waiter.  The name has no references. */
void dlki_file_sweep(const struct file_name *n);

#endif
