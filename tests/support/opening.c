/* SPDX-License-Identifier: Apache-2.0 */
#include "support/opening.h"

#include "support/case.h"
#include "support/hold.h"

static void close_client(void *c)
{
	dlock_close(c);
}

dlock_client *client_of_case(const char *uri, const dlock_options *options)
{
	dlock_client *c = NULL;

	CHECK_OK(dlock_open(&c, uri, options));
	at_end(close_client, c);
	return c;
}

void opening_works(const char *uri, const dlock_options *options)
{
	dlock_client *c = NULL;
	dlock_lock *l = NULL;

	CHECK_OK(dlock_open(&c, uri, options));
	CHECK_OK(dlock_mutex_new(&l, c, "x"));
	give(take(l));
	dlock_lock_free(l);
	dlock_close(c);
}

void opening_fails(const char *uri, int code, const char *part)
{
	dlock_client *c = NULL;

	CHECK_RC(dlock_open(&c, uri, NULL), code);
	CHECK(c == NULL);
	CHECK_TEXT(dlock_errmsg(), part);
}
