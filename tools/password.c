/* SPDX-License-Identifier: Apache-2.0 */
#include "password.h"

#include <string.h>

/* Return the text between ':' and '@'; NULL if there is no password. */
static char *find(char *uri, size_t *length)
{
	char *start = strstr(uri, "://"), *colon, *at;
	size_t n;

	if (!start)
		return NULL;
	start += 3;
	n = strcspn(start, "/?#");
	at = memrchr(start, '@', n);
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
