/* SPDX-License-Identifier: Apache-2.0 */
/* With DLOCK_TEST_MEMCACHED in the environment, that scheme is opened in the
 * place of memcached: the same tests for another way to the same store. */
#include <dlock/dlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __real_dlock_open(dlock_client **out, const char *uri,
		      const dlock_options *options);
int __wrap_dlock_open(dlock_client **out, const char *uri,
		      const dlock_options *options);

int __wrap_dlock_open(dlock_client **out, const char *uri,
		      const dlock_options *options)
{
	static const char scheme[] = "memcached";
	const char *instead = getenv("DLOCK_TEST_MEMCACHED");
	char text[400];

	if (!instead || strncmp(uri, scheme, strlen(scheme)) != 0)
		return __real_dlock_open(out, uri, options);
	snprintf(text, sizeof(text), "%s%s", instead, uri + strlen(scheme));
	return __real_dlock_open(out, text, options);
}
