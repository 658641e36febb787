/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of a small file, named by a parameter of a URI.
 */
#ifndef DLOCK_CORE_BASE_CONTENTS_H
#define DLOCK_CORE_BASE_CONTENTS_H

#include <dlock/backend.h>
#include <stddef.h>

struct dlki_file {
	const char *param;  /* for messages: "password_file" */
	const char *path;
	size_t max_bytes;
	int secret; /* no symbolic link, and no other user may read or write
		     * the file, which belongs to this user or to root */
};

/*
 * Read the whole file, which must be a regular file, into *out, and end the
 * bytes by a NUL, which *len does not count.  EINVAL, unless this process or
 * the system is short of a resource; the message names the parameter and the
 * file, and quotes no byte of the file.  Free *out with dlki_contents_free().
 */
int dlki_contents_read(char **out, size_t *len, const struct dlki_file *file,
		       struct dlk_error *err);

/* EINVAL: "<param> '<path>' <why>". */
int dlki_contents_refuse(const struct dlki_file *file, const char *why,
			 struct dlk_error *err);

/* Wipe and free; NULL is a no-op. */
void dlki_contents_free(char *bytes, size_t len);

#endif
