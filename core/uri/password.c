/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/password.h"
#include "core/base/error.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 4096

static int refuse(struct dlk_error *err, const char *path, const char *why)
{
	return dlk_fail(err, DLOCK_EINVAL, "password_file '%.140s' %s", path,
			why);
}

/* A missing file is a mistake in the URI; a lack of descriptors is not. */
static int system_failed(struct dlk_error *err, const char *path, int errnum)
{
	struct dlk_error why;
	int code = dlki_system(&why, errnum, "cannot be read");

	if (code != DLOCK_EEXHAUSTED && code != DLOCK_ENOMEM)
		code = DLOCK_EINVAL;
	return dlk_fail(err, code, "password_file '%.140s' %s", path, why.text);
}

/* Never waits for a FIFO's other end, and looks at what was opened rather than
 * at what the name means by then. */
static int open_secret(const char *path, struct dlk_error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
				    O_NOCTTY);
	const char *why = NULL;
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return refuse(err, path,
			      "is a symbolic link; name the file that it "
			      "points to");
	if (fd < 0)
		return system_failed(err, path, errno);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		why = "is not a regular file";
	else if (st.st_uid != geteuid() && st.st_uid != 0)
		why = "belongs to another user";
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		why = "may be used by others; chmod it to 600";
	else if (st.st_size > FILE_MAX)
		why = "is longer than 4096 bytes";
	if (!why)
		return fd;
	close(fd);
	return refuse(err, path, why);
}

/* 0 or an errno value.  A file that has grown since it was opened is cut. */
static int read_all(int fd, char text[FILE_MAX], size_t *len)
{
	*len = 0;
	while (*len < FILE_MAX) {
		ssize_t n = read(fd, text + *len, FILE_MAX - *len);

		if (n == 0)
			return 0;
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

static int keep_line(char **out, const char *path, const char *text, size_t len,
		     struct dlk_error *err)
{
	const char *end = memchr(text, '\n', len);
	size_t n = end ? (size_t)(end - text) : len;
	size_t at;

	if (n == 0)
		return refuse(err, path, "has nothing in its first line");
	if (dlki_text_flaw(text, n, &at))
		return refuse(err, path,
			      "has a first line that is not UTF-8 without "
			      "control characters");
	*out = malloc(n + 1);
	if (!*out)
		return dlki_nomem(err);
	memcpy(*out, text, n);
	(*out)[n] = '\0';
	return DLOCK_OK;
}

int dlki_password_read(char **out, const char *path, struct dlk_error *err)
{
	char text[FILE_MAX];
	size_t len;
	int fd, rc;

	fd = open_secret(path, err);
	if (fd < 0)
		return fd;
	rc = read_all(fd, text, &len);
	close(fd);
	if (rc)
		rc = system_failed(err, path, rc);
	else
		rc = keep_line(out, path, text, len, err);
	explicit_bzero(text, sizeof(text));
	return rc;
}

int dlki_password_copy(char **out, const char *text, struct dlk_error *err)
{
	size_t at;
	const char *flaw = dlki_text_flaw(text, strlen(text), &at);

	if (flaw)
		return dlk_fail(err, DLOCK_EINVAL,
				"byte %zu of the password %s", at, flaw);
	*out = strdup(text);
	return *out ? DLOCK_OK : dlki_nomem(err);
}

void dlki_password_free(char *password)
{
	if (!password)
		return;
	explicit_bzero(password, strlen(password));
	free(password);
}
