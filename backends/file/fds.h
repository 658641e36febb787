/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that a forked child closes.
 *
 * A lock lives until the last copy of the open file description is closed, and
 * fork() copies descriptors.  If the parent is killed, a child without exec
 * would keep the lock, though no thread holds it.  So the child first closes
 * every descriptor of this backend.
 */
#ifndef DLOCK_BACKENDS_FILE_FDS_H
#define DLOCK_BACKENDS_FILE_FDS_H

/* Keep fork() out between hold and keep.  hold: 0, or an errno value, which is
 * also in errno. */
int dlki_file_fds_hold(void);
int dlki_file_fds_keep(int fd); /* records it unless < 0; keeps errno */

/* Close `fd`, without making other threads wait: the close of an inotify
 * descriptor takes 10 ms, and on a busy machine some 100 ms. */
void dlki_file_fds_close(int fd);

#endif
