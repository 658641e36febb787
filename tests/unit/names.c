/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/names.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "support/wait.h"

static atomic_int go_on, names;

dlk_time names_until(int64_t ms)
{
	return dlki_after_ms(dlk_now(), ms);
}

void names_go_on(void)
{
	atomic_store(&go_on, 1);
}

int names_asked(void)
{
	return atomic_load(&names);
}

typedef int resolver(const char *, const char *, const struct addrinfo *,
		     struct addrinfo **);

static resolver *system_resolver(void)
{
	resolver *f = NULL;
	void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

	memcpy(&f, &symbol, sizeof(f));
	return f;
}

/* Answer with the addresses 127.0.0.N to 127.0.0.1. */
static int several(int n, const char *port, const struct addrinfo *hints,
		   struct addrinfo **out)
{
	resolver *f = system_resolver();
	char address[24];
	int rc = 0;

	for (; n > 0 && rc == 0; n--) {
		snprintf(address, sizeof(address), "127.0.0.%d", n);
		rc = f(address, port, hints, out);
		if (rc == 0)
			out = &(*out)->ai_next;
	}
	return rc;
}

static int once(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **out)
{
	static atomic_int times[2];
	int tired = strcmp(host, "tired.test") == 0;

	if (atomic_fetch_add(&times[tired], 1) == 0)
		return system_resolver()("127.0.0.1", port, hints, out);
	if (!tired)
		return EAI_AGAIN;
	while (!atomic_load(&go_on))
		nap_ms(1);
	return system_resolver()("127.0.0.2", port, hints, out);
}

static int is_address(const char *host)
{
	unsigned char to[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, to) == 1 ||
	       inet_pton(AF_INET6, host, to) == 1;
}

/* Replaces the C library's getaddrinfo() in this program. */
int getaddrinfo(const char *host, const char *port,
		const struct addrinfo *hints, struct addrinfo **out)
{
	if (hints->ai_flags & AI_NUMERICHOST || is_address(host))
		return system_resolver()(host, port, hints, out);
	atomic_fetch_add(&names, 1);
	if (strcmp(host, "tired.test") == 0 || strcmp(host, "flaky.test") == 0)
		return once(host, port, hints, out);
	if (strcmp(host, "slow.test") == 0) {
		while (!atomic_load(&go_on))
			nap_ms(1);
		host = "127.0.0.1";
	}
	if (strcmp(host, "pair.test") == 0)
		return several(2, port, hints, out);
	if (strcmp(host, "crowd.test") == 0)
		return several(33, port, hints, out);
	if (strstr(host, "absent.test"))
		return EAI_NONAME;
	if (strcmp(host, "mute.test") == 0)
		return EAI_AGAIN;
	if (strcmp(host, "full.test") == 0) {
		errno = EMFILE;
		return EAI_SYSTEM;
	}
	if (strcmp(host, "unread.test") == 0) {
		errno = EMFILE;
		return EAI_NONAME;
	}
	return system_resolver()(host, port, hints, out);
}
