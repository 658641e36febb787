/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/tls_uri.h"

static const char *missing(const struct dlki_tls_options *o)
{
	if (o->cert && !o->key)
		return "tls_cert= needs tls_key=, the file of the "
		       "certificate's private key";
	if (o->key && !o->cert)
		return "tls_key= needs tls_cert=, the file of the key's "
		       "certificate";
	if (o->ca && o->verify == DLKI_TLS_OFF)
		return "tls_ca= is of no use with tls_verify=off; leave either "
		       "out";
	return NULL;
}

int dlki_tls_open(struct dlki_tls_context **out, const char **warning,
		  const struct dlk_uri *uri, struct dlk_error *err)
{
	const struct dlki_tls_options o = {
		/* The choices are in the order of the enum. */
		.verify = (enum dlki_tls_verify)dlk_param_int(uri,
							      "tls_verify"),
		.ca = dlk_param_text(uri, "tls_ca"),
		.cert = dlk_param_text(uri, "tls_cert"),
		.key = dlk_param_text(uri, "tls_key"),
		.name = dlk_param_text(uri, "tls_name"),
	};
	const char *flaw = missing(&o);

	if (flaw)
		return dlk_fail(err, DLOCK_EINVAL, "%s", flaw);
	*out = dlki_tls_context_new(&o, err);
	if (!*out && err->code == DLOCK_ENOTSUP)
		return dlk_fail(err, DLOCK_ENOTSUP, "%s: %s", uri->scheme,
				err->text);
	if (!*out)
		return err->code;
	*warning = o.verify == DLKI_TLS_OFF ?
			   "tls_verify=off: any server that answers is "
			   "believed, so passwords and locks are not safe from "
			   "the network" :
			   NULL;
	return 0;
}
