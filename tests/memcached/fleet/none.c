/* SPDX-License-Identifier: Apache-2.0 */
/* A build without libmemcached says so. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <string.h>

static void refused(const char *uri)
{
	dlock_client *c = NULL;

	cr_assert_eq(dlock_open(&c, uri, NULL), DLOCK_ENOTSUP);
	cr_assert(strstr(dlock_errmsg(), "-DDLOCK_FLEETS=ON"), "%s",
		  dlock_errmsg());
}

Test(none, the_message_names_the_option)
{
	refused("memcached://h1,h2");
	refused("memcached:///?pool=--SERVER%3Dcache1");
}
