/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

int dlki_contents_refuse(const struct dlki_file *file, const char *why,
			 struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EINVAL, "%s '%.140s' %s", file->param,
			file->path, why);
}

/* Set the error: a missing file is a mistake in the URI, a lack of descriptors
 * is not. */
static int system_failed(const struct dlki_file *file, int errnum,
			 struct dlk_error *err)
{
	struct dlk_error why;
	int code = dlki_system(&why, errnum, "cannot be read");

	if (code != DLOCK_EEXHAUSTED && code != DLOCK_ENOMEM)
		code = DLOCK_EINVAL;
	return dlk_fail(err, code, "%s '%.140s' %s", file->param, file->path,
			why.text);
}

static const char *secret_flaw(const struct stat *st)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "belongs to another user";
	if (st->st_mode & (S_IRWXG | S_IRWXO))
		return "may be used by others; chmod it to 600";
	return NULL;
}

/* Open without waiting for the other end of a FIFO.  The checks look at the
 * descriptor: the path may lead to another file by then. */
static int open_file(const struct dlki_file *file, size_t *size,
		     struct dlk_error *err)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
					  (file->secret ? O_NOFOLLOW : 0));
	const char *why = NULL;
	char text[64];
	struct stat st;

	if (fd < 0 && errno == ELOOP && file->secret)
		return dlki_contents_refuse(
			file,
			"is a symbolic link; name the file that it "
			"points to",
			err);
	if (fd < 0)
		return system_failed(file, errno, err);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		why = "is not a regular file";
	else if (file->secret)
		why = secret_flaw(&st);
	if (!why && (uint64_t)st.st_size > file->max_bytes) {
		snprintf(text, sizeof(text), "is longer than %zu bytes",
			 file->max_bytes);
		why = text;
	}
	if (!why) {
		*size = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	return dlki_contents_refuse(file, why, err);
}

/* Read up to `size` bytes, so a file grown since the open is cut.  0 or an
 * errno value. */
static int read_all(int fd, char *bytes, size_t size, size_t *len)
{
	*len = 0;
	while (*len < size) {
		ssize_t n = read(fd, bytes + *len, size - *len);

		if (n == 0)
			break;
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			return errno;
	}
	bytes[*len] = '\0';
	return 0;
}

int dlki_contents_read(char **out, size_t *len, const struct dlki_file *file,
		       struct dlk_error *err)
{
	size_t size = 0;
	char *bytes;
	int fd, rc;

	fd = open_file(file, &size, err);
	if (fd < 0)
		return fd;
	size++; /* so that an empty file is read, too, and may fail */
	bytes = malloc(size + 1);
	rc = bytes ? read_all(fd, bytes, size, len) : ENOMEM;
	close(fd);
	if (rc != 0) {
		dlki_contents_free(bytes, size);
		return system_failed(file, rc, err);
	}
	*out = bytes;
	return DLOCK_OK;
}

void dlki_contents_free(char *bytes, size_t len)
{
	if (!bytes)
		return;
	explicit_bzero(bytes, len);
	free(bytes);
}
