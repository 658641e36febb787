/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/shown.h"
#include "core/uri/escape.h"

#include <string.h>

static void show(char **to, const char *text)
{
	size_t len = strlen(text);

	memcpy(*to, text, len);
	*to += len;
}

static void show_host(char **to, const struct dlk_host *host)
{
	int bracket = strchr(host->name, ':') != NULL;
	char digits[8], *d = &digits[sizeof(digits) - 1];

	show(to, bracket ? "[" : "");
	show(to, host->name);
	show(to, bracket ? "]" : "");
	if (host->port == 0)
		return;
	*d = '\0';
	for (unsigned int port = host->port; port; port /= 10)
		*--d = (char)('0' + port % 10);
	*--d = ':';
	show(to, d);
}

/* Show all but the parameters.  Without "//" in front, a path that begins with
 * two slashes would be read as a host. */
void dlki_show_place(char **to, const struct dlk_uri *uri)
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

void dlki_show_param(char **to, char before, const char *name,
		     const char *value)
{
	*(*to)++ = before;
	show(to, name);
	show(to, "=");
	dlki_escape(to, value, "/:,");
}
