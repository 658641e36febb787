/* SPDX-License-Identifier: Apache-2.0 */
#include "support/address.h"

#include <arpa/inet.h>
#include <string.h>

int address_tcp(struct dlki_address *out, const char *host, uint16_t port)
{
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, host, &out->to.in.sin_addr) == 1) {
		out->to.in.sin_family = AF_INET;
		out->to.in.sin_port = htons(port);
		out->len = sizeof(out->to.in);
		return 0;
	}
	if (inet_pton(AF_INET6, host, &out->to.in6.sin6_addr) == 1) {
		out->to.in6.sin6_family = AF_INET6;
		out->to.in6.sin6_port = htons(port);
		out->len = sizeof(out->to.in6);
		return 0;
	}
	return DLOCK_EINVAL;
}
