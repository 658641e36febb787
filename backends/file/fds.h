/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that a forked child closes.
 *
 * A lock lives until the last copy of its open file description is closed, and
 * fork() copies descriptors.  A child that goes on without exec would keep the
 * lock of a parent that was killed, for nobody.  So the first thing a child
 * does is to close every descriptor of this backend.
 */
#ifndef DLOCK_BACKENDS_FILE_FDS_H
#define DLOCK_BACKENDS_FILE_FDS_H

/* No fork() happens between hold and keep.  hold: 0, or an errno value, which
 * is also in errno. */
int dlki_file_fds_hold(void);
int dlki_file_fds_keep(int fd); /* records it unless < 0; keeps errno */
void dlki_file_fds_close(int fd);

#endif
