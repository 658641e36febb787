/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS by the parameters of a URI.
 */
#ifndef DLOCK_CORE_NET_TLS_URI_H
#define DLOCK_CORE_NET_TLS_URI_H

#include "core/net/tls.h"

/* Rows for a scheme's table of parameters. */
#define DLKI_TLS_PARAMS                                                        \
	{ "tls_ca", DLK_TEXT, NULL, 1, 1000, NULL,                             \
	  "file of the authorities that sign server certificates, in PEM "     \
	  "format; without it, the system's authorities do" },                 \
	{ "tls_cert", DLK_TEXT, NULL, 1, 1000, NULL,                           \
	  "file of the certificate by which the server knows the client, and " \
	  "of the certificate's chain" },                                      \
	{ "tls_key", DLK_TEXT, NULL, 1, 1000, NULL,                            \
	  "file of the private key of tls_cert, without passphrase; no other " \
	  "user may read it" },                                                \
	{ "tls_verify", DLK_CHOICE, "full", 0, 0, "full|ca|off",               \
	  "full: the server's certificate must have the server's name and be " \
	  "signed by a known authority; ca: the signature is enough; off: "    \
	  "any server is believed, with a warning" },                          \
	{ "tls_name", DLK_TEXT, NULL, 1, 253, NULL,                            \
	  "name that the server's certificate must have; without it, the "     \
	  "URI's host" }

/*
 * Make the context for a URI of a scheme with DLKI_TLS_PARAMS.  EINVAL names
 * the parameter; ENOTSUP: this build has no TLS, and the message names the
 * scheme.  *warning gets a text for the client's log, or NULL.
 */
int dlki_tls_open(struct dlki_tls_context **out, const char **warning,
		  const struct dlk_uri *uri, struct dlk_error *err);

#endif
