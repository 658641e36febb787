/* SPDX-License-Identifier: Apache-2.0 */
#include "password.h"

#include <string.h>

/*
 * Return the '@' behind a password with a bare '/', '?' or '#', which the
 * library refuses; or NULL.  `start` is `n` bytes of hosts and ports if there
 * is no such password.
 */
static char *find_late_at(char *start, size_t n)
{
	char *colon = memchr(start, ':', n), *port;

	if (!colon || memchr(start, '[', n))
		return NULL;
	port = colon + 1;
	port += strspn(port, "0123456789");
	/* Behind a port, '@' may be part of a parameter, not of a path. */
	if (port > colon + 1 && (port == start + n || *port == ','))
		return memrchr(start, '@', strcspn(start, "?"));
	return strrchr(start, '@');
}

/* Return the text between ':' and '@'; NULL if there is no password. */
static char *find(char *uri, size_t *length)
{
	char *start = strstr(uri, "://"), *colon, *at;
	size_t n;

	/* Without the slashes the URI is wrong, and yet may have a password. */
	start = start ? start + 3 : uri;
	n = strcspn(start, "/?#");
	at = memrchr(start, '@', n);
	/* The password may go on behind that '@', with a bare '/' or '#'. */
	if (at)
		at = memrchr(at, '@', strcspn(at, "?"));
	else if (start != uri)
		at = find_late_at(start, n);
	if (!at)
		return NULL;
	colon = memchr(start, ':', (size_t)(at - start));
	if (!colon)
		return NULL;
	*length = (size_t)(at - colon) - 1;
	return *length ? colon + 1 : NULL;
}

int password_hide(char *uri)
{
	size_t length;
	char *password = find(uri, &length);

	if (!password)
		return 0;
	for (size_t i = 0; i < length; i++)
		password[i] = '*';
	return 1;
}
