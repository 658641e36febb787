/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock.conf: lines `key = value`, blank lines, and lines that begin with '#'.
 *
 * A user who may write such a file decides which clients exclude each other.
 * So it must be a regular file that only the owner may write to, and the owner
 * must be root; the user's own file may also belong to the user.  A URI in the
 * file may have a password only if no other user may read it.
 */
#ifndef DLOCK_TOOLS_CONF_H
#define DLOCK_TOOLS_CONF_H

#define CONF_SYSTEM "/etc/dlock.conf"

struct conf_file {
	const char *path;
	int of_user; /* else of the system: only root's is trusted */
};

struct conf_value {
	char *text; /* NULL: not set; to be freed */
	int line;
};

/* Find the value of `key`.  A missing file sets no key; a file with a mistake
 * anywhere is refused.  0 or an exit code, with a message that names file and
 * line. */
int conf_find(const struct conf_file *file, const char *key,
	      struct conf_value *out);

/* Return the path of the user's file, to be freed: $XDG_CONFIG_HOME/dlock.conf,
 * or $HOME/.config/dlock.conf.  NULL: no such path, as for a command that is
 * set-user-ID. */
char *conf_user_path(void);

#endif
