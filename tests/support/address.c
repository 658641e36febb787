/* SPDX-License-Identifier: Apache-2.0 */
#include "support/address.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

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

int address_bound(struct dlki_address *out)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address_tcp(out, "127.0.0.1", 0);
	CHECK(bind(fd, &out->to.any, out->len) == 0);
	CHECK(getsockname(fd, &out->to.any, &out->len) == 0);
	return fd;
}

int address_six_is_there(void)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6,
				     .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	int there = fd >= 0 &&
		    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;

	if (fd >= 0)
		close(fd);
	return there;
}
