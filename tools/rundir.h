/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where locks live when nobody named a store: file: in a directory that belongs
 * to the user alone.
 */
#ifndef DLOCK_TOOLS_RUNDIR_H
#define DLOCK_TOOLS_RUNDIR_H

/*
 * The URI of the first of these, made if need be:
 *   $XDG_RUNTIME_DIR/dlock   if that directory is the user's and nobody else's
 *   /run/user/UID/dlock      likewise
 *   /tmp/dlock-UID
 * 0 and *out to be freed, or an exit code with a message.
 */
int rundir_uri(char **out);

#endif
