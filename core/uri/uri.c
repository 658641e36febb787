/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/uri.h"
#include "core/base/digits.h"
#include "core/base/error.h"
#include "core/uri/escape.h"
#include "core/uri/params.h"
#include "core/uri/password.h"

#include <stdlib.h>
#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* One block: this struct, then the decoded strings, then `shown`. */
struct parsed {
	struct dlk_uri uri; /* first: has the address of the block */
	struct dlk_values *values;
	char *password; /* from a file or the options */
	char *room;     /* where the next decoded string goes */
	char *shown;    /* where the next part of uri.shown goes */
	size_t size;
	struct dlk_host hosts[];
};

/* Fail for want of a scheme.  Only a text in front of "://" is quoted: any
 * other text may be a password. */
static int fail_scheme(const char *text, struct dlk_error *err)
{
	size_t len = 0;

	while (text[len] > ' ' && text[len] < 0x7f &&
	       !strchr(":/?#@", text[len]))
		len++;
	if (len > 0 && len <= DLKI_SCHEME_MAX &&
	    strncmp(text + len, "://", 3) == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"'%.*s' is no scheme: a letter first, then "
				"a-z, 0-9, '+', '-', '.'",
				(int)len, text);
	return dlk_fail(err, DLOCK_EINVAL,
			"the URI has no scheme; it begins as in "
			"file:/path or redis://host");
}

int dlki_uri_scheme(const char *text, char out[DLKI_SCHEME_MAX + 1],
		    struct dlk_error *err)
{
	size_t len;

	if (!text || !text[0])
		return dlk_fail(err, DLOCK_EINVAL, "the URI is %s",
				text ? "empty" : "NULL");
	len = strspn(text, LOWER UPPER "0123456789+.-");
	if (text[len] != ':' || !strchr(LOWER UPPER, text[0]))
		return fail_scheme(text, err);
	if (len > DLKI_SCHEME_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"the URI's scheme is longer than %d bytes",
				DLKI_SCHEME_MAX);
	for (size_t i = 0; i < len; i++) {
		const char *upper = strchr(UPPER, text[i]);

		out[i] = upper ? LOWER[upper - UPPER] : text[i];
	}
	out[len] = '\0';
	return DLOCK_OK;
}

/* Refuse characters that may stand nowhere in a URI.  The length comes first,
 * to bound the work for an endless text. */
static int check_text(const char *text, struct dlk_error *err)
{
	size_t len = text ? strnlen(text, DLKI_URI_MAX + 1) : 0;

	if (len > DLKI_URI_MAX)
		return dlk_fail(err, DLOCK_EINVAL,
				"the URI is longer than %d bytes",
				DLKI_URI_MAX);
	if (dlki_text_check(text, len, "URI", err) != 0)
		return DLOCK_EINVAL;
	if (len && strchr(text, ' '))
		return dlk_fail(err, DLOCK_EINVAL,
				"a space in a URI must be written %%20");
	if (len && strchr(text, '#'))
		return dlk_fail(err, DLOCK_EINVAL,
				"'#' in a URI must be written %%23");
	return DLOCK_OK;
}

/* Allocate the block.  Decoding adds a NUL for each part, which has at least a
 * byte; `shown` takes three bytes for each, and "://". */
static struct parsed *new_parsed(const char *text)
{
	size_t len = strlen(text), n_hosts = 1;
	struct parsed *p;
	size_t size;

	for (const char *s = text; *s; s++)
		n_hosts += *s == ',';
	size = sizeof(*p) + n_hosts * sizeof(p->hosts[0]) + 5 * len + 32;
	p = calloc(1, size);
	if (!p)
		return NULL;
	p->size = size;
	p->room = (char *)&p->hosts[n_hosts];
	p->shown = p->room + 2 * len + 16;
	p->uri.shown = p->shown;
	return p;
}

/* ---- Put together again, for people and logs ----------------------------- */

/* Each appends to `*to`, and moves it to the end. */
static void show(char **to, const char *text)
{
	size_t len = strlen(text);

	memcpy(*to, text, len);
	*to += len;
}

static void show_host(char **to, const struct dlk_host *host)
{
	int bracket = strchr(host->name, ':') != NULL;
	char digits[DLKI_DIGITS];

	show(to, bracket ? "[" : "");
	show(to, host->name);
	show(to, bracket ? "]" : "");
	if (host->port == 0)
		return;
	dlki_digits(digits, host->port);
	show(to, ":");
	show(to, digits);
}

/* Show all but the parameters.  Without "//" in front, a path that begins with
 * two slashes would be read as a host. */
static void show_place(char **to, const struct dlk_uri *uri)
{
	show(to, uri->scheme);
	show(to, ":");
	if (uri->n_hosts || (uri->path && strncmp(uri->path, "//", 2) == 0))
		show(to, "//");
	if (uri->user) {
		dlki_escape(to, uri->user, "");
		show(to, "@");
	}
	for (size_t i = 0; i < uri->n_hosts; i++) {
		show(to, i ? "," : "");
		show_host(to, &uri->hosts[i]);
	}
	if (uri->path)
		dlki_escape(to, uri->path, "/:,+=");
}

static void show_param(char **to, char before, const char *name,
		       const char *value)
{
	*(*to)++ = before;
	show(to, name);
	show(to, "=");
	dlki_escape(to, value, "/:,");
}

/* ---- The parts ----------------------------------------------------------- */

/* password_file is the name of a file.  Any other "password" may be a
 * password. */
static int is_secret(const char *name)
{
	return strstr(name, "password") && strcmp(name, "password_file") != 0;
}

static int parse_param(struct parsed *p, const char *text, size_t len,
		       struct dlk_error *err)
{
	const char *name = p->room;
	size_t name_len = strspn(text, LOWER "_");
	const char *value;

	/* The message does not quote the text: a '?' in a password would turn
	 * the rest of the password into a query. */
	if (name_len == 0 || name_len >= len || text[name_len] != '=')
		return dlk_fail(err, DLOCK_EINVAL,
				"after '?' come parameters of the form "
				"name=value&name=value, names of a-z and '_'");
	/* A parameter, perhaps a secret, could hide in another parameter's
	 * value, and be shown. */
	if (memchr(text + name_len + 1, '=', len - name_len - 1))
		return dlk_fail(err, DLOCK_EINVAL,
				"'=' in a value must be written %%3D; '&' "
				"stands between parameters");
	memcpy(p->room, text, name_len);
	p->room += name_len;
	*p->room++ = '\0';
	value = p->room;
	if (dlki_unescape(&p->room, text + name_len + 1, len - name_len - 1,
			  "value of a parameter", err) < 0)
		return DLOCK_EINVAL;
	if (!is_secret(name)) {
		char before = strchr(p->uri.shown, '?') ? '&' : '?';

		show_param(&p->shown, before, name, value);
	}
	return dlki_values_set(p->values, name, value, err);
}

static int parse_query(struct parsed *p, const char *text,
		       struct dlk_error *err)
{
	for (;;) {
		size_t len = strcspn(text, "&");
		int rc = parse_param(p, text, len, err);

		if (rc < 0 || text[len] == '\0')
			return rc;
		text += len + 1;
	}
}

/* Parse the text behind the scheme and the colon. */
static int parse_rest(struct parsed *p, const char *text, struct dlk_error *err)
{
	int has_authority = strncmp(text, "//", 2) == 0;
	const char *authority = text + (has_authority ? 2 : 0);
	size_t len = has_authority ? strcspn(authority, "/?") : 0;
	const char *path = authority + len;
	size_t path_len = strcspn(path, "?");
	const char *query = path + path_len + (path[path_len] == '?');

	/* A '/' in a password would make half of the password a host, and show
	 * it. */
	if (len && memchr(path, '@', path_len))
		return dlk_fail(err, DLOCK_EINVAL,
				"'@' after the host must be written %%40, and "
				"'/' in a user or password %%2F");
	if (memchr(path, '&', path_len))
		return dlk_fail(err, DLOCK_EINVAL,
				"'&' in a path must be written %%26; '?' "
				"stands before the first parameter");
	if (len && dlki_authority_parse(&p->uri, p->hosts, &p->room, authority,
					len, err) < 0)
		return DLOCK_EINVAL;
	if (path_len) {
		p->uri.path = p->room;
		if (dlki_unescape(&p->room, path, path_len, "path", err) < 0)
			return DLOCK_EINVAL;
	}
	show_place(&p->shown, &p->uri);
	return *query ? parse_query(p, query, err) : DLOCK_OK;
}

/* Settle which password counts.  A scheme without users has a table without
 * password_file. */
static int settle_password(struct parsed *p, const char *password,
			   struct dlk_error *err)
{
	const char *file;
	int rc = DLOCK_OK;

	if (!dlki_values_know(p->values, "password_file")) {
		if (p->uri.user || p->uri.password)
			return dlk_fail(err, DLOCK_EINVAL,
					"takes no user or password");
		return DLOCK_OK;
	}
	file = dlk_param_text(&p->uri, "password_file");
	if (p->uri.password && file)
		return dlk_fail(err, DLOCK_EINVAL,
				"has a password and a password_file; leave one "
				"out");
	if (p->uri.password)
		return DLOCK_OK;
	if (file)
		rc = dlki_password_read(&p->password, file, err);
	else if (password && password[0])
		rc = dlki_password_copy(&p->password, password, err);
	p->uri.password = p->password;
	return rc;
}

static int parse_all(struct parsed *p, const char *text, const char *scheme,
		     const struct dlk_param *own, const char *password,
		     struct dlk_error *err)
{
	size_t len = strlen(scheme);
	int rc = dlki_values_new(&p->values, own, err);

	if (rc < 0)
		return rc;
	p->uri.values = p->values;
	p->uri.scheme = memcpy(p->room, scheme, len + 1);
	p->room += len + 1;
	rc = parse_rest(p, text + len + 1, err);
	if (rc == DLOCK_OK)
		rc = dlki_values_check(&p->uri, err);
	if (rc == DLOCK_OK)
		rc = settle_password(p, password, err);
	return rc;
}

int dlki_uri_parse(struct dlk_uri **out, const char *text,
		   const struct dlk_param *own, const char *password,
		   struct dlk_error *err)
{
	char scheme[DLKI_SCHEME_MAX + 1];
	struct dlk_error why;
	struct parsed *p;
	int rc = check_text(text, err);

	if (rc == DLOCK_OK)
		rc = dlki_uri_scheme(text, scheme, err);
	if (rc < 0)
		return rc;
	p = new_parsed(text);
	if (!p)
		return dlki_nomem(err);
	rc = parse_all(p, text, scheme, own, password, &why);
	if (rc < 0) {
		dlki_uri_free(&p->uri);
		return dlk_fail(err, rc, "%s: %s", scheme, why.text);
	}
	*out = &p->uri;
	return DLOCK_OK;
}

void dlki_uri_free(struct dlk_uri *uri)
{
	struct parsed *p = (struct parsed *)uri;

	if (!p)
		return;
	dlki_values_free(p->values);
	dlki_password_free(p->password);
	explicit_bzero(p, p->size);
	free(p);
}
