/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

int dlki_address_unix(struct dlki_address *out, const char *path,
		      struct dlk_error *err)
{
	size_t len = strlen(path);

	memset(out, 0, sizeof(*out));
	if (len == 0 || len >= sizeof(out->to.un.sun_path))
		return dlk_fail(err, DLOCK_EINVAL,
				"the path of a unix socket has 1 to %zu "
				"bytes, not %zu: '%s'",
				sizeof(out->to.un.sun_path) - 1, len, path);
	out->to.un.sun_family = AF_UNIX;
	memcpy(out->to.un.sun_path, path, len);
	out->len = sizeof(out->to.un);
	return 0;
}

void dlki_address_text(const struct dlki_address *a,
		       char out[DLKI_ADDRESS_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "?";

	switch (a->to.any.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &a->to.in.sin_addr, host, sizeof(host));
		snprintf(out, DLKI_ADDRESS_TEXT, "%s:%u", host,
			 (unsigned int)ntohs(a->to.in.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a->to.in6.sin6_addr, host, sizeof(host));
		snprintf(out, DLKI_ADDRESS_TEXT, "[%s]:%u", host,
			 (unsigned int)ntohs(a->to.in6.sin6_port));
		break;
	default:
		snprintf(out, DLKI_ADDRESS_TEXT, "%s", a->to.un.sun_path);
	}
}

void dlki_address_text_of(const char *host, uint16_t port,
			  char out[DLKI_ADDRESS_TEXT])
{
	int v6 = strchr(host, ':') != NULL;

	snprintf(out, DLKI_ADDRESS_TEXT, "%s%.100s%s:%u", v6 ? "[" : "", host,
		 v6 ? "]" : "", (unsigned int)port);
}

int dlki_address_is_same(const struct dlki_address *a,
			 const struct dlki_address *b)
{
	return a->len == b->len && memcmp(&a->to, &b->to, a->len) == 0;
}
