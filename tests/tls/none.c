/* SPDX-License-Identifier: Apache-2.0 */
/* A build without TLS says so. */
#include <criterion/criterion.h>

#include "core/net/tls_uri.h"
#include "core/uri/uri.h"

static const struct dlk_param params[] = { DLKI_TLS_PARAMS, { 0 } };

Test(none, the_message_names_the_scheme_and_the_option)
{
	struct dlki_tls_context *c = NULL;
	const char *warning = NULL;
	struct dlk_error err;
	struct dlk_uri *uri;

	cr_assert_eq(dlki_uri_parse(&uri, "rediss://localhost/", params, NULL,
				    &err),
		     0);
	cr_assert_eq(dlki_tls_open(&c, &warning, uri, &err), DLOCK_ENOTSUP);
	cr_assert_null(c);
	cr_assert_str_eq(
		err.text,
		"rediss: this build of dlock has no TLS; configure "
		"with -DDLOCK_TLS=ON, or put a TLS tunnel on loopback");
	dlki_tls_context_free(c);
	dlki_uri_free(uri);
}
