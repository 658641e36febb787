/* SPDX-License-Identifier: Apache-2.0 */
/* TLS in a build without OpenSSL. */
#include "core/net/tls.h"

struct dlki_tls_context *dlki_tls_context_new(
	const struct dlki_tls_options *options, struct dlk_error *err)
{
	(void)options;
	dlk_fail(err, DLOCK_ENOTSUP,
		 "this build of dlock has no TLS; configure with "
		 "-DDLOCK_TLS=ON, or put a TLS tunnel on loopback");
	return NULL;
}

void dlki_tls_context_free(struct dlki_tls_context *c)
{
	(void)c;
}
