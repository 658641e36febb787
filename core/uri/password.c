/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/password.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/contents.h"
#include "core/base/error.h"
#include "core/base/utf8.h"

static int keep_line(char **out, const struct dlki_file *file, const char *text,
		     size_t len, struct dlk_error *err)
{
	const char *end = memchr(text, '\n', len);
	size_t n = end ? (size_t)(end - text) : len;
	size_t at;

	if (n == 0)
		return dlki_contents_refuse(
			file, "has nothing in its first line", err);
	if (dlki_text_flaw(text, n, &at))
		return dlki_contents_refuse(
			file,
			"has a first line that is not UTF-8 without "
			"control characters",
			err);
	*out = malloc(n + 1);
	if (!*out)
		return dlki_nomem(err);
	memcpy(*out, text, n);
	(*out)[n] = '\0';
	return DLOCK_OK;
}

int dlki_password_read(char **out, const char *path, struct dlk_error *err)
{
	const struct dlki_file file = { .param = "password_file",
					.path = path,
					.max_bytes = 4096,
					.secret = 1 };
	size_t len;
	char *text;
	int rc;

	rc = dlki_contents_read(&text, &len, &file, err);
	if (rc < 0)
		return rc;
	rc = keep_line(out, &file, text, len, err);
	dlki_contents_free(text, len);
	return rc;
}

int dlki_password_copy(char **out, const char *text, struct dlk_error *err)
{
	int rc = dlki_text_check(text, strlen(text), "password", err);

	if (rc != 0)
		return rc;
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
